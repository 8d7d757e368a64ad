import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { pgPool } from '../../src/db/connection.js';
import { openOrm } from '../../src/db/orm.js';
import { systemClock } from '../../src/lib/clock.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createMeter } from '../../src/metering/meter.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { recordOf } from './usage-record.js';

/**
 * The ledger alone, as a process: batches of 100 straight into PostgreSQL, one after another as the goal was measured,
 * then 2,000 calls a second, two in every millisecond, through the product's meter with its spool. Tells the CPU that
 * an event costs beyond what the same loop costs with nothing in it.
 */
const [, , databaseUrl, seconds, accounts] = process.argv;
const PER_TICK = 2;
const BATCH = 100;
const ids = (accounts ?? '').split(',').map((pair) => pair.split(':') as [string, string]);

const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-usage-'));
const orm = openOrm({ databaseUrl: databaseUrl!, processName: 'bench-usage' });
const pool = await pgPool(orm);
const meter = await createMeter({
  directory,
  pool,
  log: createLogger('edge', 'warn'),
  registry: new Registry(),
  clock: systemClock,
  onFlushed: () => undefined,
});

let turn = 0;
let events = 0;

function call(): void {
  const [accountId, keyId] = ids[turn++ % ids.length]!;
  const record = recordOf(newId(), accountId, keyId);
  const opened = meter.begin({
    id: record.id,
    at: record.createdAt,
    accountId,
    keyId,
    widgetId: null,
    requestedModel: record.requestedModel,
    movedTo: null,
    endpoint: 'chat',
    stream: false,
    promptVersionId: null,
  });
  // The response comes in a later turn, as the upstream's does.
  setTimeout(() => meter.finish(record, () => undefined, opened), 5);
  events++;
}

function idle(): void {
  const [accountId, keyId] = ids[turn++ % ids.length]!;
  const record = recordOf(newId(), accountId, keyId);
  setTimeout(() => record, 5);
}

/** CPU microseconds per second of the loop, with `once` called at the rate. */
async function measure(once: () => void, ms: number): Promise<number> {
  const before = process.cpuUsage();
  const began = performance.now();
  let done = 0;
  while (performance.now() - began < ms) {
    for (const due = (performance.now() - began) * PER_TICK; done < due; done++) once();
    await delay(1);
  }
  await meter.drain(5_000);
  const used = process.cpuUsage(before);
  return (used.user + used.system) / done;
}

/** The same for batches that go to the database without a spool. */
async function measureBatches(once: (records: UsageRecord[]) => Promise<unknown>, ms: number) {
  const before = process.cpuUsage();
  const began = performance.now();
  let done = 0;
  for (; performance.now() - began < ms; done += BATCH) {
    const records = Array.from({ length: BATCH }, () => {
      const [accountId, keyId] = ids[turn++ % ids.length]!;
      return recordOf(newId(), accountId, keyId);
    });
    await once(records);
  }
  const used = process.cpuUsage(before);
  events += done;
  return (used.user + used.system) / done;
}

const lengthMs = Number(seconds) * 1000;
const tell = (message: object): Promise<void> =>
  new Promise((sent) => void process.send?.(message, () => sent()));

await measure(call, 2_000);
const loop = await measure(idle, 1_000);
await measureBatches((records) => flushBatch(pool, records), 2_000);
const batchLoop = await measureBatches(() => Promise.resolve(), 1_000);
await tell({ warm: true });
events = 0;
const batched = await measureBatches((records) => flushBatch(pool, records), lengthMs);
await tell({ micros: batched - batchLoop, events });
events = 0;
const full = await measure(call, lengthMs);
await tell({ micros: full - loop, events });
await meter.stop();
await orm.close(true);
rmSync(directory, { recursive: true, force: true });
process.exit(0);
