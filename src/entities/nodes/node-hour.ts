import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Calls that a deployment on a node served in one completed hour, by how busy the node was. */
const NodeHourSchema = defineEntity({
  name: 'NodeHour',
  tableName: 'node_hours',
  properties: {
    hour: p.datetime(6).primary(),
    nodeId: p.uuid().primary(),
    deployment: p.text().primary(),
    /** Public name. */
    model: p.text().primary(),
    /** Band of concurrent calls on the node, from 1; 0 if unknown (economics.rules.ts). */
    band: p.smallint().primary(),
    requests: p.bigint(),
    errors: p.bigint(),
    /** Sum of the latencies of all calls. */
    busyMs: p.bigint(),
    /** Charges in dollars. */
    cost: p.decimal().columnType('numeric'),
    /**
     * Sketch of the latencies of successful calls: indexes of buckets, ascending, and the number of calls in each.
     */
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
