import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** What a deployment on a node served in one hour, by how busy the node was. Only hours that are over. */
const NodeHourSchema = defineEntity({
  name: 'NodeHour',
  tableName: 'node_hours',
  properties: {
    hour: p.datetime(6).primary(),
    nodeId: p.uuid().primary(),
    deployment: p.text().primary(),
    /** Public name. */
    model: p.text().primary(),
    /** Number of the band of calls under way on the node, from 1; 0 where that is unknown (economics.rules.ts). */
    band: p.smallint().primary(),
    requests: p.bigint(),
    errors: p.bigint(),
    /** Latencies of all calls together. */
    busyMs: p.bigint(),
    /** What was charged, in dollars. */
    cost: p.decimal().columnType('numeric'),
    /** Sketch of the latencies of the successes: numbers of buckets, ascending, and how many calls each has. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
    /** Answers for which the node reported zero tokens. */
    uncounted: p.bigint().defaultRaw('0'),
  },
});

export class NodeHour extends NodeHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'nodeId', 'deployment', 'model', 'band'];
}
NodeHourSchema.setClass(NodeHour);
