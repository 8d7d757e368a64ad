import { Gauge, type Registry } from 'prom-client';
import type { ServiceContext } from '../context.js';
import { createHeartbeatsService, type SweepResult } from '../services/nodes/heartbeats.service.js';

/**
 * How the GPU nodes are, as of the last sweep of this process, and how long ago the last sweep of any process was. The
 * returned function takes what a sweep found.
 */
export function nodeMetrics(
  registry: Registry,
  context: () => ServiceContext,
): (result: SweepResult) => void {
  const heartbeats = createHeartbeatsService();
  const nodes = new Gauge({
    name: 'gateway_nodes',
    help: 'GPU nodes that have sent a heartbeat, by state, as of the last sweep.',
    labelNames: ['state'],
    registers: [registry],
  });
  new Gauge({
    name: 'gateway_node_sweep_age_seconds',
    help: 'Seconds since GPU nodes were last checked for missing heartbeats.',
    registers: [registry],
    async collect() {
      const age = await heartbeats.sweepAgeSeconds(context()).catch(() => undefined);
      if (age === undefined) this.reset();
      else this.set(age);
    },
  });
  return ({ healthy, unhealthy, kept }) => {
    nodes.set({ state: 'healthy' }, healthy);
    nodes.set({ state: 'unhealthy' }, unhealthy - kept);
    nodes.set({ state: 'kept' }, kept);
  };
}
