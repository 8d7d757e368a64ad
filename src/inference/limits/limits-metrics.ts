import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of admission. Every name is explained in docs/operations.md. */
export interface LimitsMetrics {
  leaked(): void;
  waited(seconds: number, outcome: 'admitted' | 'refused' | 'gone'): void;
}

export function createLimitsMetrics(registry: Registry, openHolds: () => number): LimitsMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_open_holds',
    help: 'Calls in flight that hold part of a balance',
    registers,
    collect() {
      this.set(openHolds());
    },
  });
  const leaked = new Counter({
    name: 'gateway_leaked_holds_total',
    help: 'Holds that were not settled before their deadline',
    registers,
  });
  const waits = new Histogram({
    name: 'gateway_admission_wait_seconds',
    help: 'Time that calls near the balance floor or daily cap waited for another hold to settle',
    labelNames: ['outcome'],
    buckets: [0.005, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5],
    registers,
  });
  return {
    leaked: () => leaked.inc(),
    waited: (seconds, outcome) => waits.observe({ outcome }, seconds),
  };
}
