import { defineEntity, p } from '@mikro-orm/core';

/** What one process that routes reports of one node. */
export interface NodeReport {
  /** Calls that it has there at the moment. */
  in_flight: number;
  /** The revision of the node's status that it goes by. */
  revision: number;
}

/**
 * What a running process that routes (an edge, a platform, a model proxy) reports, by node and by deployment. A row that isn't
 * renewed belongs to a process that is gone.
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
