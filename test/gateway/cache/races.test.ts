import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { decodeInvalidation, INVALIDATION_CHANNEL } from '../../../src/db/invalidation.js';
import { listen } from '../../../src/db/listen.js';
import { DatabaseContact } from '../../../src/inference/database-contact.js';
import { createKeyCache, type KeyCache } from '../../../src/inference/keys/key-cache.js';
import type { KeyEntry } from '../../../src/inference/keys/key-states.js';
import { systemClock } from '../../../src/lib/clock.js';
import { createEnvelope, sha256 } from '../../../src/lib/crypto.js';
import { createLogger } from '../../../src/lib/logger.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey, type TestKey } from '../../support/edge.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';
import { watchPool } from '../../support/watched-pool.js';

const KEYS = 50;
const CHANGES = sized(2_000, 10_000);
const WRITERS = 3;

/** RELIABILITY.md G10: a reading that was under way when a key changed must not bring the old row back. */
describe('no reading in flight', () => {
  let db: TestDatabase;
  let pool: pg.Pool;
  let cache: KeyCache;
  beforeAll(async () => {
    db = await createTestDatabase();
    pool = new pg.Pool({ connectionString: db.url, max: 4 });
    // Rows lie around for a random time between the database and the cache, as on a slow network.
    watchPool(pool, async (_text, ask) => {
      const result = await ask();
      if (Math.random() < 0.7) await delay(Math.random() * 12);
      return result;
    });
    cache = createKeyCache({
      pool,
      envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
      clock: systemClock,
      log: createLogger('test', 'silent'),
      contact: new DatabaseContact(systemClock),
    });
  });
  afterAll(async () => {
    cache.stop();
    await pool.end();
    await db.close();
  });

  test(`brings an old row back, in ${CHANGES} races`, async () => {
    const account = await createTestKey(db);
    const keys: TestKey[] = [];
    for (let i = 0; i < KEYS; i++) keys.push(await createTestKey(db, { accountId: account.accountId }));
    const hashes = keys.map(({ key }) => sha256(key).toString('hex'));
    const index = new Map(keys.map(({ keyId }, i) => [keyId, i]));
    /** The version of each key that this process has been told of: nothing older may be seen from then on. */
    const told = new Array<number>(KEYS).fill(0);
    let notified = 0;
    const listener = listen({
      databaseUrl: db.url,
      channel: INVALIDATION_CHANNEL,
      log: createLogger('test', 'silent'),
      onNotify(payload) {
        const change = decodeInvalidation(payload)!;
        cache.invalidate(change);
        if (change.kind === 'key') told[index.get(change.id)!]!++;
        notified++;
      },
      onListening: () => cache.invalidateAll(),
    });
    await until(() => listener.connected());

    let resurrections = 0;
    let seen = 0;
    const check = (entry: KeyEntry | null, atLeast: number) => {
      seen++;
      // The cap is the version: the n-th change sets it to n dollars.
      if (Number((entry?.dailyLimit ?? 0n) / DOLLAR) < atLeast) resurrections++;
    };
    let writing = true;
    const reader = async () => {
      while (writing) {
        const i = Math.floor(Math.random() * KEYS);
        const known = cache.peek(hashes[i]!);
        if (known) check(known, told[i]!);
        else {
          const atLeast = told[i]!;
          check(await cache.load(hashes[i]!), atLeast);
        }
        if (Math.random() < 0.2) await new Promise((next) => setImmediate(next));
      }
    };
    const readers = Array.from({ length: 24 }, reader);
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = writer; n < CHANGES; n += WRITERS) {
          // Each writer has keys of its own, so that versions of a key come in order.
          const mine = keys[(n * 7) % KEYS]!;
          await db.pool.query(
            `with changed as (update api_keys set daily_limit_usd = coalesce(daily_limit_usd, 0) + 1 where id = $1
               returning id) select pg_notify($2, 'key:' || id) from changed`,
            [mine.keyId, INVALIDATION_CHANNEL],
          );
        }
      }),
    );
    await until(() => notified === CHANGES, { what: 'all notifications' });
    // On a busy machine the readers are behind: they go on until they have looked often enough.
    await until(() => seen > CHANGES, { timeoutMs: 20_000, what: 'enough looks' });
    writing = false;
    await Promise.all(readers);
    for (const [i, hash] of hashes.entries()) check(cache.peek(hash) ?? (await cache.load(hash)), told[i]!);
    await listener.stop();
    expect(resurrections).toBe(0);
    expect(seen).toBeGreaterThan(CHANGES);
  }, 60_000);
});
