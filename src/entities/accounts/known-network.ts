import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { ofAccount } from './account.js';

/** A network from which an account has proven its password. */
const KnownNetworkSchema = defineEntity({
  name: 'KnownNetwork',
  tableName: 'known_networks',
  properties: {
    accountId: () => ofAccount('known_networks_account_id_fkey').primary(),
    /** HMAC. */
    networkHash: p.text().primary(),
    lastSuccessAt: p.datetime(6).index('known_networks_last_success_at'),
  },
});

export class KnownNetwork extends KnownNetworkSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'networkHash'];
}
KnownNetworkSchema.setClass(KnownNetwork);
