import pg from 'pg';
import type { Payers } from '../../../src/inference/payers.js';
import type { CachedPayer, PayerRow, RowCache } from '../../../src/inference/row-cache.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey } from '../../support/edge.js';
import { threadTimeMs } from '../../support/thread-time.js';
import { until } from '../../support/until.js';
import { watchPool } from '../../support/watched-pool.js';
import { KINDS, openPayers } from './suite.js';

const REFRESH_MS = 2_500;
const REFRESHES = 5;
const TURN_MS = 50;
const TURNS = (REFRESHES * REFRESH_MS) / TURN_MS;
const IN_USE = 999;

describe.each(KINDS)('the cache of each $kind', ({ kind, max, batch, cacheOf, makeMany, nameOf }) => {
  let db: TestDatabase;
  let pool: pg.Pool;
  let sent = 0;
  let answered = 0;
  let payers: Payers;
  let cache: RowCache<PayerRow, CachedPayer>;
  let now = 0;
  beforeAll(async () => {
    db = await createTestDatabase();
    pool = new pg.Pool({ connectionString: db.url, max: 2 });
    watchPool(pool, async (_text, ask) => {
      sent++;
      const rows = await ask();
      answered++;
      return rows;
    });
    const { accountId } = await createTestKey(db);
    await db.pool.query(makeMany, [accountId, max + 1_000]);
    await db.pool.query('analyze');
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await db.close();
  });
  beforeEach(() => {
    // A busy machine takes longer for many rows than an entry is good for, and than until rows in use are read again.
    jest.useFakeTimers({
      doNotFake: [
        'setTimeout',
        'clearTimeout',
        'setImmediate',
        'clearImmediate',
        'nextTick',
        'queueMicrotask',
        'performance',
      ],
    });
    now = Date.now();
    payers = openPayers(pool, { now: () => now });
    cache = cacheOf(payers);
    sent = 0;
    answered = 0;
  });
  afterEach(() => {
    payers.stop();
    jest.useRealTimers();
  });

  test(`the cache keeps at most ${max} rows and ${max / 2} names without a row, and finds a row by id without a scan`, async () => {
    await Promise.all(Array.from({ length: max + 1_000 }, (_, i) => cache.load(nameOf(i + 1))));
    await Promise.all(Array.from({ length: max / 2 + 500 }, (_, i) => cache.load(nameOf(-1 - i))));
    expect([cache.size, cache.missing]).toEqual([max, max / 2]);
    // The oldest entries are gone, the latest are kept.
    expect(cache.peek(nameOf(1))).toBeUndefined();
    expect([cache.peek(nameOf(-1)), cache.peek(nameOf(-max / 2 - 500))]).toEqual([undefined, null]);
    const last = await cache.load(nameOf(max + 1_000));
    const started = threadTimeMs();
    for (let i = 0; i < 10_000; i++)
      cache.invalidate({ kind, id: last!.credential.id, accountId: last!.account.id });
    // A scan of 100,000 entries takes about a millisecond each time.
    expect(threadTimeMs() - started).toBeLessThan(500);
    expect(cache.peek(nameOf(max + 1_000))).toBeUndefined();
    expect(cache.peek(nameOf(max))).toBeDefined();
  }, 60_000);

  test(`a refresh reads 1,000 rows in use with one statement per ${batch} rows, however the calls are spread over time`, async () => {
    const statements = 1_000 / batch;
    const names = Array.from({ length: 1_000 }, (_, i) => nameOf(i + 1));
    await Promise.all(names.map((name) => cache.load(name)));
    expect(sent).toBe(statements);
    let unknown = 0;
    for (let turn = 1; turn <= TURNS; turn++) {
      // A tenth of them in each turn, as calls come.
      for (let i = turn % 10; i < IN_USE; i += 10) if (!cache.peek(names[i]!)) unknown++;
      now += TURN_MS;
      jest.advanceTimersByTime(TURN_MS);
      const refreshes = Math.floor((turn * TURN_MS) / REFRESH_MS);
      await until(() => answered >= statements * (1 + refreshes), { what: 'the rows to be read again' });
    }
    expect(unknown).toBe(0);
    expect(sent).toBe(statements * (1 + REFRESHES));
    // The one that nobody used wasn't among them.
    expect(cache.peek(names[IN_USE]!)).toBeUndefined();
  }, 60_000);

  test('a row that no call uses is read again every 30 s at most, for five minutes, so that an outage finds it', async () => {
    await cache.load(nameOf(1));
    let outage = 0;
    for (let second = 2.5; second <= 600; second += 2.5) {
      now += REFRESH_MS;
      jest.advanceTimersByTime(REFRESH_MS);
      // A statement waits for its turn in real time.
      const reads = kind === 'key' && second <= 300 ? 1 + Math.floor(second / 30) : sent;
      await until(() => sent === reads && answered === reads, { what: `${reads} statements` });
      if (second === 295) outage = sent;
    }
    expect([outage, sent]).toEqual(kind === 'key' ? [10, 11] : [1, 1]);
  }, 60_000);
});
