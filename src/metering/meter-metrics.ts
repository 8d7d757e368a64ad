import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface MeterMetrics {
  flushSeconds: Histogram;
  batchEvents: Histogram;
  flushFailures: Counter;
  deadLetters: Counter;
  syncSeconds: Histogram;
  replayed: Counter;
  strangeVersions: Counter;
}

/** Registers the meter's metrics; depth and age are read when they are scraped. */
export function createMeterMetrics(
  registry: Registry,
  backlog: () => { events: number; oldestMs: number },
  held: () => number,
  degraded: () => boolean,
): MeterMetrics {
  const registers = [registry];
  new Gauge({
    name: 'metering_spool_events',
    help: 'Usage events recorded but not yet committed.',
    registers,
    collect() {
      this.set(backlog().events);
    },
  });
  new Gauge({
    name: 'metering_spool_oldest_seconds',
    help: 'Age of the oldest uncommitted usage event.',
    registers,
    collect() {
      this.set(backlog().oldestMs / 1000);
    },
  });
  new Gauge({
    name: 'metering_held_events',
    help: 'Uncommitted usage events whose account is locked by another database session.',
    registers,
    collect() {
      this.set(held());
    },
  });
  new Gauge({
    name: 'metering_spool_degraded',
    help: '1 while the disk of the spool fails, so that each answer waits for the commit of its event, else 0.',
    registers,
    collect() {
      this.set(degraded() ? 1 : 0);
    },
  });
  return {
    flushSeconds: new Histogram({
      name: 'metering_flush_seconds',
      help: 'Duration of committed flush transactions.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    batchEvents: new Histogram({
      name: 'metering_flush_batch_events',
      help: 'Usage events per committed flush.',
      buckets: [1, 5, 10, 50, 100, 250, 500, 1000],
      registers,
    }),
    flushFailures: new Counter({
      name: 'metering_flush_failures_total',
      help: 'Flush transactions that were rolled back or have an unknown outcome.',
      registers,
    }),
    deadLetters: new Counter({
      name: 'metering_dead_letters_total',
      help: 'Usage events that the database rejected, kept as dead letters. Alert above 0.',
      registers,
    }),
    syncSeconds: new Histogram({
      name: 'metering_spool_sync_seconds',
      help: 'Duration of fdatasync calls on the spool.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
      registers,
    }),
    replayed: new Counter({
      name: 'metering_replayed_events_total',
      help: 'Usage events read from spools of exited processes, including those already committed.',
      registers,
    }),
    strangeVersions: new Counter({
      name: 'metering_unknown_prompt_versions_total',
      help: "Events whose call named a version of a prompt that isn't the account's: recorded without it.",
      registers,
    }),
  };
}
