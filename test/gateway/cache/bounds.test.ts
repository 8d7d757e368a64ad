import pg from 'pg';
import { DatabaseContact } from '../../../src/inference/database-contact.js';
import { createKeyCache, type KeyCache, MAX_KEYS } from '../../../src/inference/keys/key-cache.js';
import { MAX_MISSING } from '../../../src/inference/keys/missing-keys.js';
import type { Clock } from '../../../src/lib/clock.js';
import { createEnvelope, sha256 } from '../../../src/lib/crypto.js';
import { createLogger } from '../../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey } from '../../support/edge.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { threadTimeMs } from '../../support/thread-time.js';
import { until } from '../../support/until.js';
import { watchPool } from '../../support/watched-pool.js';

const REFRESH_MS = 2_500;
const REFRESHES = 5;
const TURN_MS = 50;
const TURNS = (REFRESHES * REFRESH_MS) / TURN_MS;
const IN_USE = 999;

describe('the key cache', () => {
  let db: TestDatabase;
  let pool: pg.Pool;
  let sent = 0;
  let answered = 0;
  let cache: KeyCache;
  let now = 0;
  const hashOf = (i: number) => sha256(`key ${i}`).toString('hex');
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
    await db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, status, created_at)
       select gen_random_uuid(), $1, 'many', 'sk-pr-many', 'many', sha256(('key ' || i)::bytea), 'active', now()
       from generate_series(1, $2::int) i`,
      [accountId, MAX_KEYS + 1_000],
    );
    await db.pool.query('analyze api_keys');
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await db.close();
  });
  const open = (clock: Clock): KeyCache =>
    createKeyCache({
      pool,
      envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
      clock,
      log: createLogger('test', 'silent'),
      contact: new DatabaseContact(clock),
    });
  beforeEach(() => {
    // A busy machine takes longer for many keys than an entry is good for, and than until keys in use are read again.
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
    cache = open({ now: () => now });
    sent = 0;
    answered = 0;
  });
  afterEach(() => {
    cache.stop();
    jest.useRealTimers();
  });

  test(`keeps at most ${MAX_KEYS} keys and ${MAX_MISSING} that don't exist, and finds one by its id at once`, async () => {
    await Promise.all(Array.from({ length: MAX_KEYS + 1_000 }, (_, i) => cache.load(hashOf(i + 1))));
    await Promise.all(Array.from({ length: MAX_MISSING + 500 }, (_, i) => cache.load(hashOf(-1 - i))));
    expect(cache.stats().keys).toBe(MAX_KEYS);
    expect(cache.stats().missing).toBeLessThanOrEqual(MAX_MISSING);
    // The first to come have left; the last are there.
    expect(cache.peek(hashOf(1))).toBeUndefined();
    const last = await cache.load(hashOf(MAX_KEYS + 1_000));
    const started = threadTimeMs();
    for (let i = 0; i < 10_000; i++)
      cache.invalidate({ kind: 'key', id: last!.credential.id, accountId: last!.account.id });
    // A scan of 100,000 entries takes about a millisecond each time.
    expect(threadTimeMs() - started).toBeLessThan(500);
    expect(cache.peek(hashOf(MAX_KEYS + 1_000))).toBeUndefined();
    expect(cache.peek(hashOf(MAX_KEYS))).toBeDefined();
  }, 60_000);

  test('reads 1,000 keys in use with one statement per 500, however they are spread over time', async () => {
    const hashes = Array.from({ length: 1_000 }, (_, i) => hashOf(i + 1));
    await Promise.all(hashes.map((hash) => cache.load(hash)));
    expect(sent).toBe(2);
    let unknown = 0;
    for (let turn = 1; turn <= TURNS; turn++) {
      // A tenth of them in each turn, as calls come.
      for (let i = turn % 10; i < IN_USE; i += 10) if (!cache.peek(hashes[i]!)) unknown++;
      now += TURN_MS;
      jest.advanceTimersByTime(TURN_MS);
      const refreshes = Math.floor((turn * TURN_MS) / REFRESH_MS);
      await until(() => answered >= 2 * (1 + refreshes), { what: 'the keys to be read again' });
    }
    expect(unknown).toBe(0);
    expect(sent).toBe(2 * (1 + REFRESHES));
    // Older than a key may be that is served: whoever comes back after a short while doesn't wait either.
    expect(cache.peek(hashes[IN_USE]!)).toBeDefined();
  });
});
