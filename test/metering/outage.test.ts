import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { decodeFrames, HEADER_BYTES, type SpoolEntry } from '../../src/metering/spool-record.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { onBusyMachine } from '../support/busy.js';
import { until } from '../support/until.js';
import { useCutOff } from './cut-off.js';
import { fillableDisk } from './fillable-disk.js';
import { begin, finish, intentOf, leaveSpool, openMeter, recordOf } from './support.js';

describe('a meter in an outage', () => {
  const cutOff = useCutOff();

  const rows = async (): Promise<{ id: string; status: string; cost: string }[]> =>
    (
      await cutOff.db.pool.query(
        'select id::text, status, cost::text from usage_events where account_id = $1',
        [cutOff.payer.accountId],
      )
    ).rows;
  const expectCommitted = async (records: UsageRecord[]): Promise<void> => {
    expect((await rows()).map((row) => row.id).sort()).toEqual(records.map((record) => record.id).sort());
  };
  const many = (count: number): UsageRecord[] =>
    Array.from({ length: count }, () => recordOf(cutOff.payer, { inputTokens: 3, outputTokens: 1 }));

  test('of the database at the start: starts within seconds, takes events and catches up', async () => {
    cutOff.link.freeze();
    const start = performance.now();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool);
    expect(performance.now() - start).toBeLessThan(onBusyMachine(5_000));
    const records = many(700);
    await Promise.all(records.map((record) => finish(meter, record)));
    expect(meter.accepting()).toBe(true);
    expect(meter.backlog().events).toBe(700);
    cutOff.link.restore();
    expect(await meter.drain(15_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of the database at the start: accepts no calls until the events of a dead process are committed', async () => {
    const left = many(1_200);
    leaveSpool(cutOff.folder.path, [left]);
    cutOff.link.freeze();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { patienceMs: 200 });
    expect(meter.accepting()).toBe(false);
    cutOff.link.restore();
    await until(() => meter.accepting(), { timeoutMs: 25_000 });
    await expectCommitted(left);
    await meter.stop();
  });

  test('of the database at the start: keeps reporting whose spools it has found until they are committed', async () => {
    jest.useFakeTimers({
      doNotFake: [
        'nextTick',
        'setImmediate',
        'clearImmediate',
        'setTimeout',
        'clearTimeout',
        'Date',
        'performance',
        'queueMicrotask',
      ],
    });
    try {
      const folders = [many(2), many(2)].map((left) => leaveSpool(cutOff.folder.path, [left]));
      const owners = folders.map((folder) => basename(folder)).sort();
      const found: string[][] = [];
      const replayed: string[] = [];
      cutOff.link.freeze();
      const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, {
        patienceMs: 200,
        onFound: (names) => found.push(names.sort()),
        onReplayed: (names) => replayed.push(...names),
      });
      // Before that there are no owners to report. On a busy machine this takes longer than the start waits.
      await until(() => folders.every((folder) => !existsSync(folder)), { what: 'the spools to be adopted' });
      for (let time = 1; time <= 3; time++) {
        jest.advanceTimersByTime(5_000);
        await until(() => found.length === time, { what: 'the news' });
      }
      expect(found).toEqual([owners, owners, owners]);
      expect(replayed).toEqual([]);
      cutOff.link.restore();
      await until(() => meter.accepting(), { timeoutMs: 25_000 });
      expect(replayed.sort()).toEqual(owners);
      await meter.stop();
    } finally {
      jest.useRealTimers();
    }
  });

  test('of a slow database: waits at the start as long as events are being committed', async () => {
    const left = many(4_000);
    leaveSpool(cutOff.folder.path, [left]);
    // A slice of 500 takes half a second, and more on a busy machine.
    cutOff.link.delay(100);
    const start = performance.now();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { patienceMs: 2_000 });
    expect(performance.now() - start).toBeGreaterThan(2_000);
    expect(meter.accepting()).toBe(true);
    await expectCommitted(left);
    await meter.stop();
  });

  test('of the database during flushes: loses no event and charges each once', async () => {
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool);
    const records: UsageRecord[] = [];
    let terminated = 0;
    const endFlush = async (): Promise<number> =>
      (
        await cutOff.db.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%charge_calls%'`,
        )
      ).rowCount!;
    for (let round = 0; round < 12; round++) {
      const batch = many(150);
      records.push(...batch);
      await Promise.all(batch.map((record) => finish(meter, record)));
      // Cuts hit connections at every stage, including the response to a commit.
      if (round % 3 === 0) await until(() => meter.backlog().events < 200);
      if (round % 4 !== 0) {
        cutOff.link.cut();
        cutOff.link.restore();
      } else {
        terminated += await until(endFlush, { timeoutMs: 900, intervalMs: 1 }).catch(() => 0);
      }
    }
    expect(terminated).toBeGreaterThan(0);
    expect(await meter.drain(15_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
  });

  test('of the database that lasts: keeps further events on the disk and reads them later', async () => {
    const { meter, flushed } = await openMeter(cutOff.folder.path, cutOff.pool, { memoryEvents: 400 });
    cutOff.link.cut();
    const records: UsageRecord[] = [];
    for (let round = 0; round < 10; round++) {
      const batch = many(200);
      records.push(...batch);
      for (const record of batch) begin(meter, intentOf(cutOff.payer, { id: record.id }));
      await Promise.all(batch.map((record) => finish(meter, record)));
    }
    expect(meter.backlog().events).toBe(2_000);
    cutOff.link.restore();
    const late = many(100);
    records.push(...late);
    await Promise.all(late.map((record) => finish(meter, record)));
    expect(await meter.drain(20_000)).toBe(true);
    await expectCommitted(records);
    expect(new Set(flushed.flatMap((result) => result.own.map((own) => own.id))).size).toBe(2_100);
    const after = recordOf(cutOff.payer);
    await finish(meter, after);
    expect(await meter.drain(5_000)).toBe(true);
    await meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of the database at the stop: leaves the events to the next start', async () => {
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool);
    cutOff.link.cut();
    const records = many(50);
    await Promise.all(records.map((record) => finish(meter, record)));
    await meter.stop();
    cutOff.link.restore();
    expect(await rows()).toEqual([]);
    const next = await openMeter(cutOff.folder.path, cutOff.pool, { patienceMs: 25_000 });
    await expectCommitted(records);
    await next.meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of the disk: commits to the database before the answer ends', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { disk });
    const before = many(5);
    await Promise.all(before.map((record) => finish(meter, record)));
    disk.full = true;
    const during = many(20);
    for (const record of during) begin(meter, intentOf(cutOff.payer, { id: record.id }));
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
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of disk and database: ends answers with an error, charges nothing for them and recovers', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { disk });
    disk.full = true;
    cutOff.link.cut();
    const lost = many(10);
    const outcomes = await Promise.allSettled(lost.map((record) => finish(meter, record)));
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect(meter.accepting()).toBe(false);
    disk.full = false;
    await until(() => meter.accepting());
    const kept = many(10);
    await Promise.all(kept.map((record) => finish(meter, record)));
    cutOff.link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    const charged = (await rows()).filter((row) => row.status === 'success').map((row) => row.id);
    expect(charged.sort()).toEqual(kept.map((record) => record.id).sort());
    expect(await rows()).toHaveLength(20);
    await meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of fdatasync: writes the events again to another segment', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { disk });
    cutOff.link.cut();
    disk.syncFails = 1;
    const records = many(30);
    await Promise.all(records.map((record) => finish(meter, record)));
    await until(() => disk.syncFails === 0);
    const [own] = readdirSync(cutOff.folder.path);
    await until(
      () => readdirSync(`${cutOff.folder.path}/${own}`).filter((name) => name.endsWith('.seg')).length === 1,
    );
    expect(readdirSync(`${cutOff.folder.path}/${own}`)).not.toContain('0000000001.seg');
    cutOff.link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    await expectCommitted(records);
    await meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });

  test('of the folder, which somebody deletes: recreates it with all pending events', async () => {
    const { meter } = await openMeter(cutOff.folder.path, cutOff.pool, { heartbeatMs: 1 });
    cutOff.link.cut();
    const open = intentOf(cutOff.payer);
    begin(meter, open);
    const records = many(20);
    await Promise.all(records.map((record) => finish(meter, record)));
    const own = `${cutOff.folder.path}/${readdirSync(cutOff.folder.path)[0]}`;
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
    cutOff.link.restore();
    expect(await meter.drain(10_000)).toBe(true);
    await finish(meter, recordOf(cutOff.payer, { id: open.id, status: 'error' }));
    await meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });
});
