import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { ofAccount } from '../accounts/account.js';

/** A saved prompt. Its content is in its versions. */
const PromptSchema = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
  indexes: [
    {
      name: 'prompts_account',
      columns: [{ name: 'account_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  uniques: [{ name: 'prompts_account_slug_key', properties: ['accountId', 'slug'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: () => ofAccount('prompts_account_id_fkey'),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    /** Number of the version that is rendered. */
    activeVersion: p.integer(),
    /** Number of the newest version; all earlier ones exist. */
    lastVersion: p.integer(),
    /** Of all versions. */
    characters: p.integer(),
    /** Raised by every change, including new versions. */
    revision: p.integer().default(1),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
  },
});

export class Prompt extends PromptSchema.class {}
PromptSchema.setClass(Prompt);
