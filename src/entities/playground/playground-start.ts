import { defineEntity, p } from '@mikro-orm/core';
import { ofAccount } from '../accounts/account.js';

/** A session that an account started in the last minute, for the limit on runs per minute. */
const PlaygroundStartSchema = defineEntity({
  name: 'PlaygroundStart',
  tableName: 'playground_starts',
  indexes: [{ name: 'playground_starts_account', properties: ['accountId', 'startedAt'] }],
  properties: {
    /** The session may have been deleted. */
    sessionId: p.uuid().primary(),
    accountId: () => ofAccount('playground_starts_account_id_fkey'),
    startedAt: p.datetime(6),
    runs: p.smallint(),
  },
});

export class PlaygroundStart extends PlaygroundStartSchema.class {}
PlaygroundStartSchema.setClass(PlaygroundStart);
