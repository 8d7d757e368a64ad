import { defineEntity, p } from '@mikro-orm/core';
import { ofAccount } from '../accounts/account.js';

/** Remains of a deleted key: calls with it are still refused, and counted for its owner. */
const DeletedApiKeySchema = defineEntity({
  name: 'DeletedApiKey',
  tableName: 'deleted_api_keys',
  indexes: [
    {
      name: 'deleted_api_keys_account',
      columns: [{ name: 'account_id' }, { name: 'deleted_at', sort: 'desc' }],
    },
  ],
  properties: {
    id: p.uuid().primary(),
    accountId: () => ofAccount('deleted_api_keys_account_id_fkey'),
    name: p.text(),
    /** SHA-256 of the full secret. */
    keyHash: p.blob().unique('deleted_api_keys_key_hash_key').hidden(),
    deletedAt: p.datetime(6),
  },
});

export class DeletedApiKey extends DeletedApiKeySchema.class {}
DeletedApiKeySchema.setClass(DeletedApiKey);
