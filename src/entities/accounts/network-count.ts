import { defineEntity, p } from '@mikro-orm/core';

/** Attempts and failures of one network since its window began. */
const NetworkCountSchema = defineEntity({
  name: 'NetworkCount',
  tableName: 'network_counts',
  properties: {
    /** What is counted and for whom, the latter as an HMAC. */
    name: p.text().primary(),
    attempts: p.integer(),
    failures: p.integer(),
    /** When the window ends. */
    endsAt: p.datetime(6).index('network_counts_ends_at'),
  },
});

export class NetworkCount extends NetworkCountSchema.class {}
NetworkCountSchema.setClass(NetworkCount);
