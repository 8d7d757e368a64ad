import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import type { MeterOptions } from '../../src/metering/meter.js';
import { ownIdentity, writeOwner } from '../../src/metering/owner.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';
import {
  createPayer,
  finish,
  intentOf,
  leaveSpool,
  metricOf,
  openMeter,
  type Payer,
  recordOf,
  temporaryFolder,
} from './support.js';

describe('the spool of a dead process', () => {
  let db: TestDatabase;
  let payer: Payer;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    folder = temporaryFolder();
    payer = await createPayer(db.pool, DOLLAR);
  });
  afterEach(async () => {
    folder.remove();
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const events = async () =>
    (await db.pool.query('select * from usage_events where account_id = $1 order by id', [payer.accountId]))
      .rows;
  const ids = async (): Promise<string[]> => (await events()).map((row) => row.id);
  /** Start and stop give up on a slow database after some seconds; a busy machine gets more time here. */
  const open = (options: Partial<MeterOptions> = {}) =>
    openMeter(folder.path, db.pool, { patienceMs: 25_000, ...options });
  /** Starts a meter, which replays the spools that it finds, and stops it. */
  const replay = async (): Promise<number> => {
    const { meter, registry, flushed } = await open();
    const replayed = await metricOf(registry, 'metering_replayed_events_total');
    await meter.stop();
    expect(flushed.flatMap((result) => result.own)).toEqual([]);
    return replayed;
  };

  test('the next start commits every event and removes the folder', async () => {
    const records = Array.from({ length: 1_200 }, () => recordOf(payer, { inputTokens: 1, outputTokens: 1 }));
    leaveSpool(folder.path, [records.slice(0, 700), records.slice(700)]);
    expect(await replay()).toBe(1_200);
    expect(await ids()).toEqual(records.map((record) => record.id).sort());
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('three copies replayed by two processes at once give one event and one debit', async () => {
    const records = Array.from({ length: 200 }, () => recordOf(payer));
    const intent = intentOf(payer);
    const original = leaveSpool(folder.path, [[intent, ...records]]);
    for (const copy of [newId(), newId()]) cpSync(original, join(folder.path, copy), { recursive: true });
    const meters = await Promise.all([1, 2].map(() => open()));
    // If one process locked the account for long, the other has taken its events over and commits them later.
    const replayed = () =>
      Promise.all(meters.map(({ registry }) => metricOf(registry, 'metering_replayed_events_total')));
    await until(async () => (await replayed()).reduce((sum, events) => sum + events) === 603, {
      what: 'all copies to be replayed',
    });
    expect(await ids()).toEqual([...records.map((record) => record.id), intent.id].sort());
    const { rows } = await db.pool.query('select balance::text from accounts where id = $1', [
      payer.accountId,
    ]);
    expect(rows).toEqual([{ balance: '0.950000000000' }]);
    await Promise.all(meters.map(({ meter }) => meter.stop()));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('an intent without a finished event becomes a free error, other calls stay as they are', async () => {
    const done = intentOf(payer);
    const carried = intentOf(payer);
    const cut = intentOf(payer, {
      stream: true,
      requestedModel: 'gateway/qwen-pro',
      movedTo: 'gateway/fast',
      at: Date.UTC(2026, 3, 1),
    });
    const doneRecord = recordOf(payer, { id: done.id });
    const carriedRecord = recordOf(payer, { id: carried.id });
    leaveSpool(folder.path, [
      [done, carried, cut],
      [carried, cut, doneRecord, carriedRecord],
    ]);
    expect(await replay()).toBe(3);
    expect((await events()).map((row) => [row.id, row.status])).toEqual(
      [
        [done.id, 'success'],
        [carried.id, 'success'],
        [cut.id, 'error'],
      ].sort(),
    );
    expect((await events()).find((row) => row.id === cut.id)).toMatchObject({
      error_code: 'gateway_terminated',
      http_status: 502,
      cost: '0.000000000000',
      price_in: '0.000000000000',
      latency_ms: 0,
      stream: true,
      served_model: 'gateway/fast',
      created_at: new Date(cut.at),
    });
  });

  test('a torn tail costs no whole record', async () => {
    const records = [recordOf(payer), recordOf(payer)];
    leaveSpool(folder.path, [records], '\u0010\u0000\u0000\u0000half a rec');
    expect(await replay()).toBe(2);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('damage in the middle costs only the damaged record, and the file is kept aside', async () => {
    const records = [recordOf(payer), recordOf(payer), recordOf(payer)];
    const path = join(leaveSpool(folder.path, [records]), '0000000001.seg');
    const bytes = readFileSync(path);
    const at = bytes.indexOf(records[1]!.id);
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
    expect(await replay()).toBe(2);
    expect(await ids()).toEqual([records[0]!.id, records[2]!.id].sort());
    expect(readdirSync(folder.path)).toEqual(['damaged']);
    expect(readFileSync(join(folder.path, 'damaged', readdirSync(join(folder.path, 'damaged'))[0]!))).toEqual(
      bytes,
    );
  });

  test('a process that died while replaying another one leaves both spools to be committed', async () => {
    const inner = recordOf(payer);
    const outer = recordOf(payer);
    const died = leaveSpool(folder.path, [[outer]]);
    const earlier = leaveSpool(join(folder.path, '.elsewhere'), [[inner]]);
    cpSync(earlier, join(died, 'adopted-1'), { recursive: true });
    expect(await replay()).toBe(2);
    expect(await ids()).toEqual([inner.id, outer.id].sort());
  });

  test('the names of all former owners are reported once their events are committed', async () => {
    const died = leaveSpool(folder.path, [[recordOf(payer)]]);
    const earlier = leaveSpool(join(folder.path, '.elsewhere'), [[recordOf(payer)]]);
    cpSync(earlier, join(died, `adopted-${basename(earlier)}`), { recursive: true });
    const reported: [string[], number][] = [];
    const committed: Promise<void>[] = [];
    const { meter } = await open({
      onReplayed: (owners) => {
        committed.push(ids().then((found) => void reported.push([owners, found.length])));
      },
    });
    await Promise.all(committed);
    expect(reported).toEqual([[[basename(died), basename(earlier)], 2]]);
    await meter.stop();
  });

  test("foreign files beside a spool don't keep it from being committed, and an orderly stop deletes nothing unread", async () => {
    const records = [recordOf(payer), recordOf(payer), recordOf(payer)];
    for (const record of records) leaveSpool(folder.path, [[record]]);
    // This folder has no owner, …
    const strange = leaveSpool(folder.path, [[recordOf(payer)]]);
    mkdirSync(join(strange, 'owner.json'));
    // … and this one has an owner but can't be read.
    const unreadable = leaveSpool(folder.path, [[recordOf(payer)]]);
    symlinkSync(join(unreadable, 'nowhere'), join(unreadable, '0000000000.seg'));
    expect(await replay()).toBe(3);
    expect(await ids()).toEqual(records.map(({ id }) => id).sort());

    const [left] = readdirSync(folder.path).filter((name) => name !== basename(strange));
    rmSync(join(folder.path, left!, `adopted-${basename(unreadable)}`, '0000000000.seg'));
    expect(await replay()).toBe(1);
    expect(await ids()).toHaveLength(4);
    expect(readdirSync(folder.path)).toEqual([basename(strange)]);
  });

  test('a spool adopted but not replayed before an orderly stop is replayed by the next start', async () => {
    const { meter } = await open();
    const [own] = readdirSync(folder.path);
    const record = recordOf(payer);
    const left = leaveSpool(folder.path, [[record]]);
    // As after a rename that took effect but was reported as failed.
    renameSync(left, join(folder.path, own!, `adopted-${basename(left)}`));
    await meter.stop();
    expect(await replay()).toBe(1);
    expect(await ids()).toEqual([record.id]);
  });

  describe('when an owner counts as dead', () => {
    const record = () => recordOf(payer);
    test('an owner whose pid is gone is dead', async () => {
      const child = spawn(process.execPath, ['-e', '']);
      await once(child, 'exit');
      writeOwner(leaveSpool(folder.path, [[record()]]), { ...ownIdentity(), pid: child.pid! });
      expect(await replay()).toBe(1);
    });

    test('an owner whose pid belongs to a later process is dead', async () => {
      writeOwner(leaveSpool(folder.path, [[record()]]), { ...ownIdentity(), startTime: '1' });
      expect(await replay()).toBe(1);
    });

    test.each([
      ['an hour behind', -3_600_000],
      ['an hour ahead', 3_600_000],
    ])(
      'an owner elsewhere is dead once its heartbeat stops, even by a clock that is %s',
      async (_how, ms) => {
        const [still, living] = [0, 1].map(() => {
          const left = leaveSpool(folder.path, [[intentOf(payer)]]);
          writeOwner(left, { ...ownIdentity(), machine: 'another' });
          return join(left, 'owner.json');
        });
        const beat = (path: string) => utimes(path, new Date(Date.now() - ms), new Date(Date.now() - ms));
        await Promise.all([still!, living!].map(beat));
        const beats = setInterval(() => void beat(living!).catch(() => undefined), 10);
        const { meter, registry } = await open({ lookMs: 50 });
        await until(async () => (await metricOf(registry, 'metering_replayed_events_total')) > 0);
        clearInterval(beats);
        expect([existsSync(still!), existsSync(living!)]).toEqual([false, true]);
        expect(await ids()).toHaveLength(1);
        await meter.stop();
      },
    );
  });

  describe("of an owner that can't be looked up and may be alive", () => {
    /** A finished call of $0.00025, and an open one. */
    const leaveElsewhere = (heartbeatAgeMs = 0) => {
      const finished = recordOf(payer);
      const open = intentOf(payer);
      const left = leaveSpool(folder.path, [[finished, open]]);
      writeOwner(left, { ...ownIdentity(), pidNamespace: 'pid:[1]' });
      const beat = new Date(Date.now() - heartbeatAgeMs);
      utimesSync(join(left, 'owner.json'), beat, beat);
      return { left, finished, open };
    };
    const balance = async (): Promise<string> =>
      (await db.pool.query('select balance::text from accounts where id = $1', [payer.accountId])).rows[0]
        .balance;

    test.each([
      ['if it alone admits calls', { alone: true }, 0],
      ['if others admit calls and the owner is silent', {}, 16_000],
    ])(
      'its finished calls are committed before another process serves, %s; its folder and open calls stay its own',
      async (_who, options, heartbeatAgeMs) => {
        const { left, finished } = leaveElsewhere(heartbeatAgeMs);
        const { meter, flushed } = await open(options);
        expect(meter.accepting()).toBe(true);
        expect(await ids()).toEqual([finished.id]);
        expect(await balance()).toBe('0.999750000000');
        expect(flushed.flatMap(({ own }) => own)).toEqual([]);
        await meter.stop();
        expect(readdirSync(folder.path)).toEqual([basename(left)]);
      },
    );

    test('its calls are charged once if it turns out to be dead', async () => {
      const { finished, open: cut } = leaveElsewhere();
      const { meter, registry } = await open({ alone: true, lookMs: 20 });
      await until(async () => (await metricOf(registry, 'metering_replayed_events_total')) === 2);
      expect(await ids()).toEqual([finished.id, cut.id].sort());
      expect(await balance()).toBe('0.999750000000');
      await meter.stop();
      expect(readdirSync(folder.path)).toEqual([]);
    });

    test("a process that admits calls alone doesn't serve before the database has them", async () => {
      const { finished } = leaveElsewhere();
      const session = await db.pool.connect();
      await session.query('begin; lock table usage_events in exclusive mode');
      const { meter } = await open({ alone: true, patienceMs: 100 });
      try {
        expect(meter.accepting()).toBe(false);
      } finally {
        await session.query('rollback');
        session.release();
      }
      await until(() => meter.accepting(), { timeoutMs: 20_000 });
      expect(await ids()).toEqual([finished.id]);
      await meter.stop();
    });

    test('a spool of another installation is left alone and keeps nobody from serving', async () => {
      const ours = payer;
      payer = { accountId: newId(), keyId: newId() };
      const { left } = leaveElsewhere();
      payer = ours;
      const { meter, registry } = await open({ alone: true });
      expect(meter.accepting()).toBe(true);
      // No event is retried or becomes a dead letter.
      expect(await metricOf(registry, 'metering_spool_events')).toBe(0);
      expect(await metricOf(registry, 'metering_dead_letters_total')).toBe(0);
      await meter.stop();
      expect(readdirSync(folder.path)).toEqual([basename(left)]);
    });

    test('a spool that is taken away meanwhile keeps nobody from serving', async () => {
      const { left } = leaveElsewhere();
      symlinkSync(join(left, 'nowhere'), join(left, '0000000000.seg'));
      const { meter } = await open({ alone: true });
      expect(meter.accepting()).toBe(true);
      expect(await ids()).toHaveLength(1);
      await meter.stop();
    });
  });

  describe('when an owner counts as alive', () => {
    test('a live process keeps its folder, however old its heartbeat', async () => {
      const left = leaveSpool(folder.path, [[recordOf(payer)]]);
      writeOwner(left, ownIdentity());
      utimesSync(join(left, 'owner.json'), new Date(0), new Date(0));
      expect(await replay()).toBe(0);
      expect(await ids()).toEqual([]);
    });

    test.each([
      ['on another machine', { machine: 'another' }],
      ['in another container of this machine', { pidNamespace: 'pid:[1]' }],
    ])('a process %s with fresh heartbeats keeps its folder', async (_where, changes) => {
      writeOwner(leaveSpool(folder.path, [[recordOf(payer)]]), {
        ...ownIdentity(),
        pid: 2 ** 22,
        ...changes,
      });
      expect(await replay()).toBe(0);
      expect(await ids()).toEqual([]);
    });
  });

  test('a running process finds new spools, and those it adopted but did not replay', async () => {
    const { meter, registry } = await open();
    await finish(meter, recordOf(payer));
    const [own] = readdirSync(folder.path);
    const adopted = leaveSpool(folder.path, [[recordOf(payer)]]);
    renameSync(adopted, join(folder.path, own!, `adopted-${basename(adopted)}`));
    leaveSpool(folder.path, [[recordOf(payer)]]);
    await until(async () => (await metricOf(registry, 'metering_replayed_events_total')) === 2, {
      timeoutMs: 25_000,
    });
    expect(await ids()).toHaveLength(3);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
