import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';

/** `draining` and `offline` are set by an administrator: no new calls go there. */
export type NodeStatus = 'active' | 'draining' | 'offline';
export type NodeHealth = 'healthy' | 'unhealthy';

/** Latest value of one metric, and its time. */
export interface StoredReading<Value> {
  value: Value;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Latest value of each metric in heartbeats. Metrics that were never sent are absent. */
export interface StoredReadings {
  gpu_utilization?: StoredReading<number>;
  memory_used_gb?: StoredReading<number>;
  requests_running?: StoredReading<number>;
  requests_waiting?: StoredReading<number>;
  kv_cache_usage?: StoredReading<number>;
  loaded_models?: StoredReading<string[]>;
}

/** A registered GPU server. Its address is for administrators only. */
const GpuNodeSchema = defineEntity({
  name: 'GpuNode',
  tableName: 'gpu_nodes',
  indexes: [
    {
      name: 'gpu_nodes_created_at',
      columns: [
        { name: 'created_at', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    name: p.text(),
    provider: p.text(),
    region: p.text(),
    gpuType: p.text(),
    hourlyCostUsd: p.decimal().precision(24).scale(12),
    endpointUrl: p.text(),
    /** Host and port of `endpointUrl`: deployments with the same host and port run on this node. */
    endpointKey: p.text(),
    status: p.text().$type<NodeStatus>().default('active'),
    healthStatus: p.text().$type<NodeHealth>().default('unhealthy'),
    /** Whether routing uses it although it is unhealthy, because too many nodes went silent at once to believe it. */
    keptInRouting: p.boolean().default(false),
    /** Raised by each change of `status`, so that processes can report which one they have applied. */
    revision: p.integer().default(0),
    readings: p.json<StoredReadings>().defaultRaw(`'{}'`),
    lastHeartbeatAt: p.datetime(6).nullable(),
    /** When the last call ended after new ones had stopped. Null while active, or while calls are in progress. */
    drainedAt: p.datetime(6).nullable(),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
  },
});

export class GpuNode extends GpuNodeSchema.class {}
GpuNodeSchema.setClass(GpuNode);
