import { defineEntity, p } from '@mikro-orm/core';
import { ApiKey } from './api-key.js';

export type GuardAction = 'disable' | 'slow' | 'fallback_model';

/** What happens when a key's spend reaches a percentage of its monthly limit. */
const KeyGuardSchema = defineEntity({
  name: 'KeyGuard',
  tableName: 'key_guards',
  properties: {
    keyId: () =>
      p
        .manyToOne(ApiKey)
        .mapToPk()
        .joinColumn('key_id')
        .foreignKeyName('key_guards_key_id_fkey')
        .deleteRule('cascade')
        .updateRule('no action')
        .primary(),
    atPct: p.smallint(),
    action: p.text().$type<GuardAction>(),
    /** The model for calls after it has acted; `fallback_model` only. */
    modelPublicName: p.text().nullable(),
    /**
     * The last month in which it acted, `YYYY-MM`, and when. It acts once a month, and never for an earlier month
     * after a later one.
     */
    actedMonth: p.text().nullable(),
    actedAt: p.datetime(6).nullable(),
    /** Whether its owner has undone that action. */
    undone: p.boolean().default(false),
  },
});

export class KeyGuard extends KeyGuardSchema.class {}
KeyGuardSchema.setClass(KeyGuard);
