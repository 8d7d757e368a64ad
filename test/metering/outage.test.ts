import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import pg from 'pg';
import { DOLLAR } from '../../src/lib/money.js';
import { decodeFrames, HEADER_BYTES, type SpoolEntry } from '../../src/metering/spool-record.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { fillableDisk } from './fillable-disk.js';
import {
  begin,
  createPayer,
  finish,
  intentOf,
  leaveSpool,
  openMeter,
  type Payer,
  recordOf,
  temporaryFolder,
} from './support.js';

describe('a meter in an outage', () => {
  let db: TestDatabase;
  let link: TcpProxy;
  let pool: pg.Pool;
  let payer: Payer;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    db = await createTestDatabase();
    link = await createTcpProxy(Number(new URL(db.url).port));
  });
  afterAll(async () => {
    await link.close();
    await db.close();
  });
  beforeEach(async () => {
    folder = temporaryFolder();
    payer = await createPayer(db.pool, DOLLAR);
    pool = new pg.Pool({ connectionString: link.urlOf(db.url), max: 2 });
    pool.on('error', () => undefined);
  });
  afterEach(async () => {
    link.restore();
    await pool.end();
    folder.remove();
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const rows = async (): Promise<{ id: string; status: string; cost: string }[]> =>
    (
      await db.pool.query('select id::text, status, cost::text from usage_events where account_id = $1', [
        payer.accountId,
      ])
    ).rows;
  const expectCommitted = async (records: UsageRecord[]): Promise<void> => {
    expect((await rows()).map((row) => row.id).sort()).toEqual(records.map((record) => record.id).sort());
  };
  const many = (count: number): UsageRecord[] =>
    Array.from({ length: count }, () => recordOf(payer, { inputTokens: 3, outputTokens: 1 }));

  test('of the database at start, starts within seconds, takes events and catches up', async () => {
    link.freeze();
    const start = performance.now();
    const { meter } = await openMeter(folder.path, pool);
    expect(performance.now() - start).toBeLessThan(5_000);
    const records = many(700);
    await Promise.all(records.map((record) => finish(meter, record)));
    expect(meter.accepting()).toBe(true);
    expect(meter.backlog().events).toBe(700);
    link.restore();
    expect(await meter.drain(15_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of the database at start, accepts nothing until what a dead process left is committed', async () => {
    const left = many(1_200);
    leaveSpool(folder.path, [left]);
    link.freeze();
    const { meter } = await openMeter(folder.path, pool, { patienceMs: 200 });
    expect(meter.accepting()).toBe(false);
    link.restore();
    await until(() => meter.accepting(), { timeoutMs: 25_000 });
    await expectCommitted(left);
    await meter.stop();
  });

  test('that is only slow, waits at the start for as long as something is committed', async () => {
    const left = many(2_000);
    leaveSpool(folder.path, [left]);
    link.delay(100);
    const start = performance.now();
    const { meter } = await openMeter(folder.path, pool, { patienceMs: 1_000 });
    expect(performance.now() - start).toBeGreaterThan(1_000);
    expect(meter.accepting()).toBe(true);
    await expectCommitted(left);
    await meter.stop();
  });

  test('of the database in the middle of flushes, loses nothing and charges once', async () => {
    const { meter } = await openMeter(folder.path, pool);
    const records: UsageRecord[] = [];
    for (let round = 0; round < 12; round++) {
      const batch = many(150);
      records.push(...batch);
      await Promise.all(batch.map((record) => finish(meter, record)));
      // Cuts hit connections at every stage, the answer to a commit included.
      if (round % 3 === 0) await until(() => meter.backlog().events < 200);
      link.cut();
      link.restore();
      if (round % 4 === 0) {
        await db.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%no key update%'`,
        );
      }
    }
    expect(await meter.drain(15_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
  });

  test('that lasts, keeps the rest on the disk and reads it again', async () => {
    const { meter, flushed } = await openMeter(folder.path, pool, { memoryEvents: 400 });
    link.cut();
    const records: UsageRecord[] = [];
    for (let round = 0; round < 10; round++) {
      const batch = many(200);
      records.push(...batch);
      for (const record of batch) begin(meter, intentOf(payer, { id: record.id }));
      await Promise.all(batch.map((record) => finish(meter, record)));
    }
    expect(meter.backlog().events).toBe(2_000);
    link.restore();
    const late = many(100);
    records.push(...late);
    await Promise.all(late.map((record) => finish(meter, record)));
    expect(await meter.drain(20_000)).toBe(true);
    await expectCommitted(records);
    expect(new Set(flushed.flatMap((result) => result.own.map((own) => own.id))).size).toBe(2_100);
    const after = recordOf(payer);
    await finish(meter, after);
    expect(await meter.drain(5_000)).toBe(true);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of the database at the stop, leaves the events to the next start', async () => {
    const { meter } = await openMeter(folder.path, pool);
    link.cut();
    const records = many(50);
    await Promise.all(records.map((record) => finish(meter, record)));
    await meter.stop();
    link.restore();
    expect(await rows()).toEqual([]);
    const next = await openMeter(folder.path, pool);
    await expectCommitted(records);
    await next.meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of the disk, writes through to the database before the answer ends', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(folder.path, pool, { disk });
    const before = many(5);
    await Promise.all(before.map((record) => finish(meter, record)));
    disk.full = true;
    const during = many(20);
    for (const record of during) begin(meter, intentOf(payer, { id: record.id }));
    await Promise.all(
      during.map(async (record) => {
        await finish(meter, record);
        expect((await rows()).map((row) => row.id)).toContain(record.id);
      }),
    );
    expect(meter.accepting()).toBe(true);
    disk.full = false;
    const after = many(5);
    await Promise.all(after.map((record) => finish(meter, record)));
    expect(await meter.drain(5_000)).toBe(true);
    await expectCommitted([...before, ...during, ...after]);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of disk and database, ends answers with an error, charges nothing for them and recovers', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(folder.path, pool, { disk });
    disk.full = true;
    link.cut();
    const lost = many(10);
    const outcomes = await Promise.allSettled(lost.map((record) => finish(meter, record)));
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect(meter.accepting()).toBe(false);
    disk.full = false;
    await until(() => meter.accepting());
    const kept = many(10);
    await Promise.all(kept.map((record) => finish(meter, record)));
    link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    const charged = (await rows()).filter((row) => row.status === 'success').map((row) => row.id);
    expect(charged.sort()).toEqual(kept.map((record) => record.id).sort());
    expect(await rows()).toHaveLength(20);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of fdatasync, goes on in another segment that holds the events again', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(folder.path, pool, { disk });
    link.cut();
    disk.syncFails = 1;
    const records = many(30);
    await Promise.all(records.map((record) => finish(meter, record)));
    await until(() => disk.syncFails === 0);
    const [own] = readdirSync(folder.path);
    await until(
      () => readdirSync(`${folder.path}/${own}`).filter((name) => name.endsWith('.seg')).length === 1,
    );
    expect(readdirSync(`${folder.path}/${own}`)).not.toContain('0000000001.seg');
    link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('of the folder, which someone deletes, makes it again with all that is pending', async () => {
    const { meter } = await openMeter(folder.path, pool, { heartbeatMs: 1 });
    link.cut();
    const open = intentOf(payer);
    begin(meter, open);
    const records = many(20);
    await Promise.all(records.map((record) => finish(meter, record)));
    const own = `${folder.path}/${readdirSync(folder.path)[0]}`;
    rmSync(own, { recursive: true });
    await until(() => existsSync(`${own}/owner.json`));
    const found = await until((): SpoolEntry[] | undefined => {
      const files = readdirSync(own).filter((name) => name.endsWith('.seg'));
      const entries = files.flatMap(
        (file) => decodeFrames(readFileSync(`${own}/${file}`), HEADER_BYTES).entries,
      );
      return entries.length >= 21 ? entries : undefined;
    });
    const ids = found.map((entry) => (entry.kind === 'event' ? entry.record.id : entry.intent.id));
    expect(ids.sort()).toEqual([open.id, ...records.map((record) => record.id)].sort());
    link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    await finish(meter, recordOf(payer, { id: open.id, status: 'error' }));
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
