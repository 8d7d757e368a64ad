import { Counter, type Registry } from 'prom-client';
import type { CallMetrics } from '../../../inference/call-metrics.js';

export interface RunMetrics {
  ended(status: string): void;
  /** For `inference/`, which counts calls of `/v1`: runs are counted by `ended` instead. */
  ofCalls: CallMetrics;
}

/** Metrics of the model playground. Explained in docs/operations.md. */
export function createRunMetrics(registry: Registry): RunMetrics {
  const runs = new Counter({
    name: 'playground_runs_total',
    help: 'Runs of the model playground that ended here, by status',
    labelNames: ['status'],
    registers: [registry],
  });
  const nothing = (): void => undefined;
  return {
    ended: (status) => runs.inc({ status }),
    ofCalls: {
      answered: nothing,
      recorded: nothing,
      dropped: nothing,
      bodyBytes: nothing,
      refusalsLost: nothing,
      uncounted: nothing,
      malformedVersion: nothing,
    },
  };
}
