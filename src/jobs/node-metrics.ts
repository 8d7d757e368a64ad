import { Gauge, type Registry } from 'prom-client';
import type { ServiceContext } from '../context.js';
import { createHeartbeatsService } from '../services/nodes/heartbeats.service.js';

/**
 * How the GPU nodes are, and how long ago the last sweep was. Both are read at each scrape: a sweep runs in one of the jobs
 * processes, and what the others remember is out of date.
 */
export function nodeMetrics(registry: Registry, context: () => ServiceContext): void {
  const heartbeats = createHeartbeatsService();
  new Gauge({
    name: 'gateway_nodes',
    help: 'GPU nodes that have sent a heartbeat, by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await heartbeats.counts(context()).catch(() => undefined);
      if (counts === undefined) this.reset();
      else for (const [state, nodes] of Object.entries(counts)) this.set({ state }, nodes);
    },
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
}
