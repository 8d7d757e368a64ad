import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { isLockFault } from '../../src/db/lock-fault.js';
import { systemClock } from '../../src/lib/clock.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { costOf, DOLLAR, formatMoney, type Money } from '../../src/lib/money.js';
import { type BatchResult, flushBatch } from '../../src/metering/flush.store.js';
import { createMeter, type MeterOptions } from '../../src/metering/meter.js';
import {
  eventPayload,
  frameBound,
  intentPayload,
  segmentHeader,
  writeFrame,
} from '../../src/metering/spool-record.js';
import type {
  CallIntent,
  FlushResult,
  Meter,
  OpenIntent,
  UsageRecord,
} from '../../src/metering/usage-record.js';
import { until } from '../support/until.js';

/** Commits events as the edge does: retries after a lock timeout. */
export const flushWhenFree = (pool: Pool, records: readonly UsageRecord[]): Promise<BatchResult> =>
  until(
    () =>
      flushBatch(pool, records).catch((error) => {
        if (!isLockFault(error)) throw error;
        return undefined;
      }),
    { what: 'the locks to be free' },
  );

export interface Payer {
  accountId: string;
  keyId: string;
}

/** An account with a funded ledger and a key. */
export async function createPayer(pool: Pool, funds: Money = 1_000_000n * DOLLAR): Promise<Payer> {
  const accountId = newId();
  const keyId = newId();
  await pool.query(
    `with a as (
       insert into accounts (id, name, balance, ledger_seq, created_at) values ($1, 'payer', $2, 1, now()))
     insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
     values ($3, $1, 1, 'starter', $2, $2, now())`,
    [accountId, formatMoney(funds), newId()],
  );
  await pool.query(
    `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
     values ($1, $2, 'key', 'sk-pr-abcd', 'wxyz', $3, now())`,
    [keyId, accountId, Buffer.from(keyId)],
  );
  return { accountId, keyId };
}

export function intentOf(payer: Payer, changes: Partial<CallIntent> = {}): CallIntent {
  return {
    id: newId(),
    at: Date.now(),
    ...payer,
    widgetId: null,
    requestedModel: 'gateway/fast',
    movedTo: null,
    endpoint: 'chat',
    stream: false,
    promptVersionId: null,
    ...changes,
  };
}

/** A successful call of 1,000 + 500 tokens, which costs $0.000250, unless changed. */
export function recordOf(payer: Payer, changes: Partial<UsageRecord> = {}): UsageRecord {
  const { at, ...call } = intentOf(payer);
  const record: UsageRecord = {
    ...call,
    createdAt: at,
    servedModel: 'gateway/fast',
    inputTokens: 1_000,
    outputTokens: 500,
    priceIn: 100_000n,
    priceOut: 300_000n,
    cost: 0n,
    latencyMs: 120,
    ttftMs: null,
    status: 'success',
    errorCode: null,
    httpStatus: 200,
    clientAborted: false,
    estimated: false,
    anomalous: false,
    deployment: null,
    nodeId: null,
    nodeCalls: null,
    errorMessage: null,
    ...changes,
  };
  if (record.status === 'error' || 'cost' in changes) return record;
  const { inputTokens, outputTokens, priceIn, priceOut } = record;
  return { ...record, cost: costOf(inputTokens, outputTokens, priceIn, priceOut) };
}

/** Tokens and a price with this cost, a multiple of 1,000, because the audit recomputes it. */
export const costing = (cost: Money): Pick<UsageRecord, 'inputTokens' | 'outputTokens' | 'priceOut'> => ({
  inputTokens: 0,
  outputTokens: 1_000,
  priceOut: cost / 1_000n,
});

const begun = new Map<string, OpenIntent>();

/** Begins a call. `finish` with a record of the same id ends it. */
export function begin(meter: Meter, intent: CallIntent): void {
  begun.set(intent.id, meter.begin(intent));
}

/** Records a call and resolves when its bytes are in the spool. */
export function finish(meter: Meter, record: UsageRecord): Promise<void> {
  const opened = begun.get(record.id);
  begun.delete(record.id);
  return new Promise((resolve, reject) => {
    meter.finish(record, (error) => (error ? reject(error) : resolve()), opened);
  });
}

export interface TestMeter {
  meter: Meter;
  flushed: FlushResult[];
  registry: Registry;
}

export async function openMeter(
  directory: string,
  pool: Pool,
  options: Partial<MeterOptions> = {},
): Promise<TestMeter> {
  const flushed: FlushResult[] = [];
  const registry = new Registry();
  const meter = await createMeter({
    directory,
    pool,
    log: createLogger('test', 'silent'),
    registry,
    clock: systemClock,
    onFlushed: (result) => flushed.push(result),
    ...options,
  });
  return { meter, flushed, registry };
}

/** A folder below the system's temporary one, removed by `remove`. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gateway-spool-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Value of a counter or gauge without labels. */
export async function metricOf(registry: Registry, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)!.get();
  return metric.values[0]?.value ?? 0;
}

/** Leaves a spool like that of a dead process: segments of intents and records, without an owner file. */
export function leaveSpool(directory: string, segments: (CallIntent | UsageRecord)[][], tail = ''): string {
  const folder = join(directory, newId());
  mkdirSync(folder, { recursive: true });
  for (const [index, entries] of segments.entries()) {
    const payloads = entries.map((entry) => ('at' in entry ? intentPayload(entry) : eventPayload(entry)));
    const frames = payloads.map((payload) => {
      const frame = Buffer.alloc(frameBound(payload));
      return frame.subarray(0, writeFrame(frame, 0, payload));
    });
    const name = `${String(index + 1).padStart(10, '0')}.seg`;
    writeFileSync(join(folder, name), Buffer.concat([segmentHeader(), ...frames, Buffer.from(tail)]));
  }
  return folder;
}
