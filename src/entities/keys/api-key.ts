import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { ofAccount } from '../accounts/account.js';

/** An API key. Only prefix, last four characters and SHA-256 of the secret are stored. */
const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: [
    {
      name: 'api_keys_account',
      columns: [{ name: 'account_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: () => ofAccount('api_keys_account_id_fkey'),
    name: p.text(),
    keyPrefix: p.text(),
    lastFour: p.text(),
    /** SHA-256 of the full secret. */
    keyHash: p.blob().unique('api_keys_key_hash_key').hidden(),
    status: p.text().$type<'active' | 'disabled'>().default('active'),
    /** Triggers alerts, doesn't stop calls. */
    monthlyLimitUsd: p.decimal().precision(24).scale(12).nullable(),
    /** Successful calls since then count toward the limit's alerts. */
    monthlyLimitChangedAt: p.datetime(6).nullable(),
    /** Calls are refused at this limit, per UTC day. */
    dailyLimitUsd: p.decimal().precision(24).scale(12).nullable(),
    /** The upstream virtual key, sealed; null makes calls fail with `upstream_unconfigured`. */
    virtualKeySealed: p.text().nullable().hidden(),
    createdAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);
