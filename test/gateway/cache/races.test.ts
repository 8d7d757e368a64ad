import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  decodeInvalidation,
  encodeInvalidation,
  INVALIDATION_CHANNEL,
} from '../../../src/db/invalidation.js';
import { listen } from '../../../src/db/listen.js';
import type { Payers } from '../../../src/inference/payers.js';
import type { CachedPayer } from '../../../src/inference/row-cache.js';
import { systemClock } from '../../../src/lib/clock.js';
import { createLogger } from '../../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';
import { watchPool } from '../../support/watched-pool.js';
import { changeOf, KINDS, openPayers, type TestPayer } from './suite.js';

const PAYERS = 50;
const CHANGES = sized(2_000, 10_000);
const WRITERS = 3;

/** Requirement G10: a reading that was under way when a row changed must not bring the old row back. */
describe.each(KINDS)('readings of a $kind in flight', (kind) => {
  let db: TestDatabase;
  let pool: pg.Pool;
  let payers: Payers;
  beforeAll(async () => {
    db = await createTestDatabase();
    pool = new pg.Pool({ connectionString: db.url, max: 4 });
    // Rows take a random time from the database to the cache, as on a slow network.
    watchPool(pool, async (_text, ask) => {
      const result = await ask();
      if (Math.random() < 0.7) await delay(Math.random() * 12);
      return result;
    });
    payers = openPayers(pool, systemClock);
  });
  afterAll(async () => {
    payers.stop();
    await pool.end();
    await db.close();
  });

  test(`a reading never brings back an old row, in ${CHANGES} races`, async () => {
    const cache = kind.cacheOf(payers);
    const made: TestPayer[] = [await kind.make(db)];
    while (made.length < PAYERS) made.push(await kind.make(db, made[0]!.accountId));
    const names = made.map(({ name }) => name);
    const index = new Map(made.map(({ id }, i) => [id, i]));
    /** The version of each row of which this process was notified: from then on, no older version may be seen. */
    const announced = new Array<number>(PAYERS).fill(0);
    let notified = 0;
    const listener = listen({
      databaseUrl: db.url,
      channel: INVALIDATION_CHANNEL,
      log: createLogger('test', 'silent'),
      onNotify(payload) {
        const change = decodeInvalidation(payload)!;
        cache.invalidate(change);
        if (change.kind === kind.kind) announced[index.get(change.id)!]!++;
        notified++;
      },
      onListening: () => cache.invalidateAll(),
    });
    await until(() => listener.connected());

    let resurrections = 0;
    let seen = 0;
    const check = (entry: CachedPayer | null, atLeast: number) => {
      seen++;
      // The limit is the version: the n-th change sets it to n dollars.
      if ((entry ? kind.limitOf(entry) : 0) < atLeast) resurrections++;
    };
    let writing = true;
    const reader = async () => {
      while (writing) {
        const i = Math.floor(Math.random() * PAYERS);
        const known = cache.peek(names[i]!);
        if (known) check(known, announced[i]!);
        else {
          const atLeast = announced[i]!;
          check(await cache.load(names[i]!), atLeast);
        }
        if (Math.random() < 0.2) await new Promise((next) => setImmediate(next));
      }
    };
    const readers = Array.from({ length: 24 }, reader);
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = writer; n < CHANGES; n += WRITERS) {
          // Each writer has rows of its own, so that versions of a row come in order.
          const mine = made[(n * 7) % PAYERS]!;
          await db.pool.query(
            `with changed as (${kind.raiseLimit} returning id) select pg_notify($2, $3) from changed`,
            [mine.id, INVALIDATION_CHANNEL, encodeInvalidation(changeOf(kind, mine))],
          );
        }
      }),
    );
    await until(() => notified === CHANGES, { what: 'all notifications' });
    // On a busy machine the readers lag behind, so they continue until they have looked often enough.
    await until(() => seen > CHANGES, { timeoutMs: 20_000, what: 'enough looks' });
    writing = false;
    await Promise.all(readers);
    for (const [i, name] of names.entries())
      check(cache.peek(name) ?? (await cache.load(name)), announced[i]!);
    await listener.stop();
    expect(resurrections).toBe(0);
    expect(seen).toBeGreaterThan(CHANGES);
  }, 60_000);
});
