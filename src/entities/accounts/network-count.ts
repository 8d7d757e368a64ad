import { defineEntity, p } from '@mikro-orm/core';

/** Attempts and failures of one network, address or account since its window began. */
const NetworkCountSchema = defineEntity({
  name: 'NetworkCount',
  tableName: 'network_counts',
  properties: {
    /** What is counted, and for whom: the HMAC of a network or address, or an account id. */
    name: p.text().primary(),
    attempts: p.integer(),
    failures: p.integer(),
    endsAt: p.datetime(6).index('network_counts_ends_at'),
  },
});

export class NetworkCount extends NetworkCountSchema.class {}
NetworkCountSchema.setClass(NetworkCount);
