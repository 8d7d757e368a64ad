import { defineEntity, p } from '@mikro-orm/core';

/** Report of one routing process about one node. */
export interface NodeReport {
  /** Calls of that process in progress there. */
  in_flight: number;
  /** The revision of the node's status that it has applied. */
  revision: number;
}

/**
 * Reports of a running process that routes (an edge, a platform, a model proxy), by node and by deployment. A row
 * that isn't renewed belongs to a dead process.
 */
const ProxyReportSchema = defineEntity({
  name: 'ProxyReport',
  tableName: 'proxy_reports',
  properties: {
    proxyId: p.uuid().primary(),
    reportedAt: p.datetime(6),
    nodes: p.json<Record<string, NodeReport>>(),
    deployments: p.json<Record<string, object>>().defaultRaw(`'{}'`),
  },
});

export class ProxyReport extends ProxyReportSchema.class {}
ProxyReportSchema.setClass(ProxyReport);
