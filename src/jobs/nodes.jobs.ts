import { z } from 'zod';
import { createHeartbeatsService, type SweepResult } from '../services/nodes/heartbeats.service.js';
import { defineJob, type JobDefinition } from './kit.js';

const MS_PER_SECOND = 1000;

/** Marks GPU nodes unhealthy whose heartbeats are missing. `report` gets what each sweep found. */
export function nodeSweepJob(
  { staleAfterMs, intervalMs }: { staleAfterMs: number; intervalMs: number },
  report: (result: SweepResult) => void,
): JobDefinition {
  const heartbeats = createHeartbeatsService();
  return defineJob({
    name: 'node-sweep',
    schema: z.strictObject({}),
    every: `${intervalMs / MS_PER_SECOND} seconds`,
    data: {},
    async run(context) {
      report(await heartbeats.sweep(context, { staleAfterMs, intervalMs }));
    },
  });
}
