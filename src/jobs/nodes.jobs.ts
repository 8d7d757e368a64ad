import { createHeartbeatsService } from '../services/nodes/heartbeats.service.js';
import { type JobDefinition, scheduled } from './kit.js';

const MS_PER_SECOND = 1000;

/** Marks GPU nodes unhealthy whose heartbeats are missing. */
export function nodeSweepJob(limits: { staleAfterMs: number; intervalMs: number }): JobDefinition {
  const heartbeats = createHeartbeatsService();
  return scheduled('node-sweep', `${limits.intervalMs / MS_PER_SECOND} seconds`, async (context) => {
    await heartbeats.sweep(context, limits);
  });
}
