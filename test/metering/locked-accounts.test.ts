import { readdirSync } from 'node:fs';
import type { PoolClient } from 'pg';
import type { SpoolDisk } from '../../src/metering/segment.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';
import {
  createPayer,
  finish,
  flushWhenFree,
  leaveSpool,
  metricOf,
  openMeter,
  type Payer,
  recordOf,
  temporaryFolder,
} from './support.js';

/** A start gives up on a slow database after some seconds; a busy machine gets more time here. */
const PATIENT = { patienceMs: 25_000 };

const fullDisk: SpoolDisk = {
  write() {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  },
  sync: () => Promise.resolve(),
};

describe('a meter with accounts that another transaction locks', () => {
  let db: TestDatabase;
  let folder: ReturnType<typeof temporaryFolder>;
  let session: PoolClient;
  let victim: Payer;
  let other: Payer;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    folder = temporaryFolder();
    [victim, other] = [await createPayer(db.pool), await createPayer(db.pool)];
    session = await db.pool.connect();
    await session.query('begin');
  });
  afterEach(async () => {
    session.release();
    folder.remove();
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const lock = (payers: Payer[]) =>
    session.query('select from accounts where id = any($1) for update', [
      payers.map(({ accountId }) => accountId),
    ]);
  /** Ids of an account's charges, in the order of their charges. */
  const charges = async ({ accountId }: Payer): Promise<string[]> =>
    (
      await db.pool.query<{ id: string }>(
        `select id from calls where account_id = $1 and seq is not null order by seq`,
        [accountId],
      )
    ).rows.map((row) => row.id);
  const idsOf = (records: UsageRecord[]): string[] => records.map(({ id }) => id);
  let second = 0;
  /** Records with increasing times. */
  const some = (payer: Payer, count: number): UsageRecord[] =>
    Array.from({ length: count }, () =>
      recordOf(payer, { createdAt: Date.UTC(2026, 10, 1) + second++ * 1_000 }),
    );
  const chargedWith = (payer: Payer, records: UsageRecord[], timeoutMs = 2_000) =>
    until(async () => (await charges(payer)).length === records.length, { timeoutMs, what: 'the charges' });

  test('commits all other events at once, and those of locked accounts in order once the lock is gone', async () => {
    await lock([victim]);
    const { meter, flushed, registry } = await openMeter(folder.path, db.pool);
    const [theirs, others]: [UsageRecord[], UsageRecord[]] = [[], []];
    for (let round = 1; round <= 3; round++) {
      const records = [some(victim, 7), some(other, 5)] as const;
      theirs.push(...records[0]);
      others.push(...records[1]);
      await Promise.all(records.flat().map((record) => finish(meter, record)));
      await chargedWith(other, others);
    }
    // Rows are visible to others before the meter gets the response to its commit.
    await until(() => meter.backlog().events === 21, { what: 'the meter to know what it has committed' });
    expect(await charges(victim)).toEqual([]);
    expect(await metricOf(registry, 'metering_held_events')).toBe(21);
    await session.query('rollback');
    expect(await meter.drain(10_000)).toBe(true);
    expect(await charges(victim)).toEqual(idsOf(theirs));
    expect(flushed.flatMap(({ own }) => own.map(({ id }) => id)).sort()).toEqual(
      idsOf([...theirs, ...others]).sort(),
    );
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('finds one locked account among hundreds', async () => {
    const crowd = await Promise.all(Array.from({ length: 200 }, () => createPayer(db.pool)));
    const locked = [crowd[0]!, crowd[77]!, crowd[199]!];
    await lock(locked);
    const { meter } = await openMeter(folder.path, db.pool);
    const records = crowd.flatMap((payer) => some(payer, 1));
    await Promise.all(records.map((record) => finish(meter, record)));
    const left = await until(() => (meter.backlog().events === 3 ? meter.backlog() : undefined), {
      timeoutMs: 2_000,
    });
    expect(left.events).toBe(3);
    await session.query('rollback');
    expect(await meter.drain(10_000)).toBe(true);
    await meter.stop();
  });

  test('waits with all events while a whole table is locked, and then commits them', async () => {
    await session.query('lock table usage_events in exclusive mode');
    const crowd = await Promise.all(Array.from({ length: 20 }, () => createPayer(db.pool)));
    const { meter, registry } = await openMeter(folder.path, db.pool);
    const records = crowd.flatMap((payer) => some(payer, 2));
    await Promise.all(records.map((record) => finish(meter, record)));
    await until(async () => (await metricOf(registry, 'metering_flush_failures_total')) > 1, {
      timeoutMs: 5_000,
    });
    await session.query('rollback');
    expect(await meter.drain(10_000)).toBe(true);
    await Promise.all(crowd.map(async (payer) => expect(await charges(payer)).toHaveLength(2)));
    await meter.stop();
  });

  test('bounds the memory for locked accounts separately; beyond it, events wait on the disk and none is lost', async () => {
    await lock([victim]);
    const { meter } = await openMeter(folder.path, db.pool, { memoryEvents: 40 });
    const others: UsageRecord[] = [];
    const theirs = some(victim, 40);
    const record = (records: UsageRecord[]) => Promise.all(records.map((one) => finish(meter, one)));
    await record(theirs);
    for (let round = 0; round < 2; round++) {
      const more = some(other, 15);
      others.push(...more);
      await record(more);
      await chargedWith(other, others);
    }
    for (let round = 0; round < 4; round++) {
      const more = [some(victim, 30), some(other, 10)] as const;
      theirs.push(...more[0]);
      others.push(...more[1]);
      await record(more.flat());
    }
    await session.query('rollback');
    expect(await meter.drain(10_000)).toBe(true);
    expect(await charges(victim)).toEqual(idsOf(theirs));
    expect(await charges(other)).toEqual(idsOf(others));
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('ends answers that wait for a commit because the disk is full, and charges nothing for them', async () => {
    const { meter } = await openMeter(folder.path, db.pool, { disk: fullDisk });
    await lock([victim]);
    const [theirs, others] = [some(victim, 2), some(other, 2)];
    const outcomes = await Promise.allSettled([...theirs, ...others].map((one) => finish(meter, one)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
    expect((await charges(other)).sort()).toEqual(idsOf(others).sort());
    await session.query('rollback');
    expect(await meter.drain(10_000)).toBe(true);
    expect(await charges(victim)).toEqual([]);
    await meter.stop();
  });

  test('stops within seconds and leaves their events to the next start, which charges them', async () => {
    await lock([victim]);
    const first = await openMeter(folder.path, db.pool, { patienceMs: 200 });
    const [theirs, others] = [some(victim, 3), some(other, 3)];
    await Promise.all([...theirs, ...others].map((record) => finish(first.meter, record)));
    await chargedWith(other, others);
    await first.meter.stop();
    expect(readdirSync(folder.path)).toHaveLength(1);
    await session.query('rollback');
    const next = await openMeter(folder.path, db.pool, PATIENT);
    // The first one's last flush may lock the accounts for a moment.
    await chargedWith(victim, theirs, 5_000);
    await chargedWith(other, others, 5_000);
    expect(await charges(victim)).toEqual(idsOf(theirs));
    expect(await charges(other)).toEqual(idsOf(others));
    await next.meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('takes over their uncommitted events of dead processes at the start, each once', async () => {
    const [theirs, others] = [some(victim, 4), some(other, 2)];
    await flushWhenFree(db.pool, theirs.slice(0, 1));
    await lock([victim]);
    leaveSpool(folder.path, [[...theirs, ...others]]);
    leaveSpool(folder.path, [theirs.slice(2)]);
    const taken: UsageRecord[] = [];
    const replayed: string[] = [];
    const { meter, flushed } = await openMeter(folder.path, db.pool, {
      ...PATIENT,
      onTakenOver: (records) => taken.push(...records),
      onReplayed: (owners) => replayed.push(...owners),
    });
    expect(meter.accepting()).toBe(true);
    expect(idsOf(taken)).toEqual(idsOf(theirs.slice(1)));
    // No stop waits for events that count elsewhere by now.
    expect(replayed).toHaveLength(2);
    await session.query('rollback');
    await chargedWith(victim, theirs, 5_000);
    await until(() => flushed.flatMap(({ own }) => own).length === taken.length, { what: 'the news' });
    await meter.stop();
    expect(idsOf(flushed.flatMap(({ own }) => own))).toEqual(idsOf(taken));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('replays all other events of dead processes meanwhile', async () => {
    await lock([victim]);
    const [theirs, others, later] = [some(victim, 2), some(other, 2), some(other, 2)];
    leaveSpool(folder.path, [[...theirs, ...others]]);
    leaveSpool(folder.path, [later]);
    const { meter } = await openMeter(folder.path, db.pool, PATIENT);
    expect((await charges(other)).sort()).toEqual(idsOf([...others, ...later]).sort());
    expect(await charges(victim)).toEqual([]);
    await session.query('rollback');
    await chargedWith(victim, theirs, 5_000);
    await until(() => readdirSync(folder.path).length === 1, { what: 'the folders to go' });
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
