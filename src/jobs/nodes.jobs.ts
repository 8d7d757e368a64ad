import { Gauge, type Registry } from 'prom-client';
import type { ServiceContext } from '../context.js';
import { createHeartbeatsService } from '../services/nodes/heartbeats.service.js';
import { type JobDefinition, scheduled } from './kit.js';

const MS_PER_SECOND = 1000;

/** Marks GPU nodes without recent heartbeats as unhealthy. */
export function nodeSweepJob(limits: { staleAfterMs: number; intervalMs: number }): JobDefinition {
  const heartbeats = createHeartbeatsService();
  return scheduled('node-sweep', `${limits.intervalMs / MS_PER_SECOND} seconds`, async (context) => {
    await heartbeats.sweep(context, limits);
  });
}

/**
 * Registers metrics of the GPU nodes and of the last sweep. Reads both at each scrape: sweeps run in any of the jobs
 * processes, so what one of them remembers may be outdated.
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
