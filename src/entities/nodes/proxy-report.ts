import { defineEntity, p } from '@mikro-orm/core';

/** What one model proxy says of one node. */
export interface NodeReport {
  /** Calls that it has there at the moment. */
  in_flight: number;
  /** The revision of the node's status that it goes by. */
  revision: number;
}

/** What a running model proxy says of the nodes, by node. A row that isn't renewed belongs to a proxy that is gone. */
const ProxyReportSchema = defineEntity({
  name: 'ProxyReport',
  tableName: 'proxy_reports',
  properties: {
    proxyId: p.uuid().primary(),
    reportedAt: p.datetime(6),
    nodes: p.json<Record<string, NodeReport>>(),
  },
});

export class ProxyReport extends ProxyReportSchema.class {}
ProxyReportSchema.setClass(ProxyReport);
