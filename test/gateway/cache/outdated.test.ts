import pg from 'pg';
import type { Payers } from '../../../src/inference/payers.js';
import { RowUnavailableError } from '../../../src/inference/row-cache.js';
import { newPublicKey } from '../../../src/services/widgets/widgets.rules.js';
import { testClock } from '../../support/clock.js';
import { usePlatform } from '../../support/platform-suite.js';
import { watchPool } from '../../support/watched-pool.js';
import { changeOf, KINDS, openPayers } from './suite.js';

/** Known entries serve this long while the database is away. */
const STALE_MS = 60_000;

const suite = usePlatform();
const clock = testClock();
let pool: pg.Pool;
let payers: Payers;
let isAway = false;
beforeEach(() => {
  isAway = false;
  pool = new pg.Pool({ connectionString: suite.db.url, max: 1 });
  watchPool(pool, (_text, ask) => (isAway ? Promise.reject(new Error('away')) : ask()));
  payers = openPayers(pool, clock);
});
afterEach(async () => {
  payers.stop();
  await pool.end();
});

describe.each(KINDS)('the cached row of a $kind', (kind) => {
  test('a row is read again after notifications may have been missed, and is used for a minute if that fails', async () => {
    const cache = kind.cacheOf(payers);
    const payer = await kind.make(suite.db);
    const limit = async () => {
      const entry = await cache.find(payer.name);
      return entry && kind.limitOf(entry);
    };
    expect(await limit()).toBe(0);
    await suite.db.pool.query(kind.raiseLimit, [payer.id]);
    expect(await limit()).toBe(0);
    cache.invalidateAll();
    expect(await limit()).toBe(1);
    cache.invalidateAll();
    isAway = true;
    clock.advance(STALE_MS);
    expect(await limit()).toBe(1);
    clock.advance(1);
    await expect(limit()).rejects.toThrow(RowUnavailableError);
  });

  test.each([
    ['the payer itself', 'own'],
    ['its account', 'account'],
    ['plans or models', 'catalog'],
  ])(
    'a row is not used once a change of %s was announced, even while the database is away',
    async (_what, changed) => {
      const cache = kind.cacheOf(payers);
      const payer = await kind.make(suite.db);
      await cache.find(payer.name);
      isAway = true;
      if (changed === 'own') payers.invalidate(changeOf(kind, payer));
      else if (changed === 'account') payers.invalidate({ kind: 'account', id: payer.accountId });
      else payers.invalidate({ kind: 'catalog' });
      await expect(cache.find(payer.name)).rejects.toThrow(RowUnavailableError);
    },
  );

  test('a row is used while the database is away if only another row has changed', async () => {
    const cache = kind.cacheOf(payers);
    const [payer, other] = [await kind.make(suite.db), await kind.make(suite.db)];
    await cache.find(payer.name);
    await cache.find(other.name);
    isAway = true;
    payers.invalidate(changeOf(kind, other));
    expect(await cache.find(payer.name)).toMatchObject({ credential: { id: payer.id } });
  });
});

test("a widget's former key stops working with the notification, even if its new key was read before", async () => {
  const [, kind] = KINDS;
  const widget = await kind!.make(suite.db);
  const name = newPublicKey();
  await payers.widgets.find(widget.name);
  await suite.db.pool.query('update widgets set public_key = $2 where id = $1', [widget.id, name]);
  expect(await payers.widgets.find(name)).not.toBeNull();
  payers.invalidate(changeOf(kind!, widget));
  expect(await payers.widgets.find(widget.name)).toBeNull();
  expect(await payers.widgets.find(name)).not.toBeNull();
});
