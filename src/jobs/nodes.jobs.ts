import { createHeartbeatsService, type SweepResult } from '../services/nodes/heartbeats.service.js';
import { type JobDefinition, scheduled } from './kit.js';

const MS_PER_SECOND = 1000;

/** Marks GPU nodes unhealthy whose heartbeats are missing. `report` gets what each sweep found. */
export function nodeSweepJob(
  { staleAfterMs, intervalMs }: { staleAfterMs: number; intervalMs: number },
  report: (result: SweepResult) => void,
): JobDefinition {
  const heartbeats = createHeartbeatsService();
  return scheduled('node-sweep', `${intervalMs / MS_PER_SECOND} seconds`, async (context) => {
    report(await heartbeats.sweep(context, { staleAfterMs, intervalMs }));
  });
}
