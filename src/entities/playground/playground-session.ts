import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { ofAccount } from '../accounts/account.js';

/** Sampling parameters of a run; absent ones are left to the model. */
export interface RunParameters {
  temperature?: number;
  max_tokens: number;
  top_p?: number;
}

/** One prompt for 1 to 4 models. Its texts are sealed with the account's data key. */
const PlaygroundSessionSchema = defineEntity({
  name: 'PlaygroundSession',
  tableName: 'playground_sessions',
  indexes: [
    {
      name: 'playground_sessions_account',
      columns: [{ name: 'account_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: () => ofAccount('playground_sessions_account_id_fkey'),
    promptSealed: p.text().hidden(),
    systemPromptSealed: p.text().nullable().hidden(),
    parameters: p.json().$type<RunParameters>(),
    /** Part of the public URL. Kept when sharing ends, so that sharing again gives the same URL. */
    shareSlug: p.text().nullable().unique('playground_sessions_share_slug_key'),
    shared: p.boolean().default(false),
    createdAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class PlaygroundSession extends PlaygroundSessionSchema.class {}
PlaygroundSessionSchema.setClass(PlaygroundSession);
