import { Counter, Histogram, type Registry } from 'prom-client';

export interface ProxyMetrics {
  /** One finished call: `outcome` is `ok` or why not. */
  finished(model: string, outcome: string, seconds: number): void;
}

/** Calls by model and outcome, and how long they took. Unknown models share one label: names are the caller's. */
export function createProxyMetrics(registry: Registry | undefined): ProxyMetrics {
  if (!registry) return { finished: () => undefined };
  const calls = new Counter({
    name: 'proxy_calls_total',
    help: 'Calls of the model proxy by public model and outcome (ok, client_gone, stream_broken or error code)',
    labelNames: ['model', 'outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'proxy_call_seconds',
    help: 'Seconds from a call to its last byte',
    labelNames: ['model'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
    registers: [registry],
  });
  return {
    finished(model, outcome, seconds) {
      calls.inc({ model, outcome });
      duration.observe({ model }, seconds);
    },
  };
}
