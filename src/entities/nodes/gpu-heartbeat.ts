import { defineEntity, p } from '@mikro-orm/core';
import { GpuNode } from './gpu-node.js';

/** The metrics of one heartbeat. Heartbeats without metrics aren't stored. Kept for a day. */
const GpuHeartbeatSchema = defineEntity({
  name: 'GpuHeartbeat',
  tableName: 'gpu_heartbeats',
  properties: {
    nodeId: () =>
      p
        .manyToOne(GpuNode)
        .mapToPk()
        .primary()
        .joinColumn('node_id')
        .foreignKeyName('gpu_heartbeats_node_id_fkey')
        .deleteRule('cascade'),
    /** By the server's clock. */
    receivedAt: p.datetime(6).primary(),
    gpuUtilization: p.double().$type<number>().nullable(),
    memoryUsedGb: p.double().$type<number>().nullable(),
    requestsRunning: p.integer().nullable(),
    requestsWaiting: p.integer().nullable(),
    kvCacheUsage: p.double().$type<number>().nullable(),
    loadedModels: p.array().columnType('text[]').nullable(),
  },
});

export class GpuHeartbeat extends GpuHeartbeatSchema.class {}
GpuHeartbeatSchema.setClass(GpuHeartbeat);
