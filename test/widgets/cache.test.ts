import pg from 'pg';
import { DatabaseContact } from '../../src/inference/database-contact.js';
import { createKeyCache } from '../../src/inference/keys/key-cache.js';
import { WidgetCache, WidgetUnavailableError } from '../../src/inference/widgets/widget-cache.js';
import { createEnvelope } from '../../src/lib/crypto.js';
import { createLogger } from '../../src/lib/logger.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { watchPool } from '../support/watched-pool.js';
import { changeWidget, createTestWidget } from './edge-support.js';

/** DESIGN: known entries serve for so long while the database is away. */
const STALE_MS = 60_000;

describe('the widgets that an edge knows', () => {
  const suite = usePlatform();
  const clock = testClock();
  let pool: pg.Pool;
  let cache: WidgetCache;
  let isAway = false;
  let close = (): void => undefined;
  beforeEach(() => {
    isAway = false;
    pool = new pg.Pool({ connectionString: suite.db.url, max: 1 });
    watchPool(pool, (_text, ask) => (isAway ? Promise.reject(new Error('away')) : ask()));
    const deps = {
      pool,
      envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
      clock,
      log: createLogger('test', 'silent'),
      contact: new DatabaseContact(clock),
    };
    const accounts = createKeyCache(deps);
    cache = new WidgetCache({ ...deps, accounts });
    close = () => {
      cache.stop();
      accounts.stop();
    };
  });
  afterEach(async () => {
    close();
    await pool.end();
  });

  test('are read again once notifications may have been missed, and serve for a minute if that fails', async () => {
    const widget = await createTestWidget(suite.db, { columns: { placeholder: 'before' } });
    const placeholder = async () => (await cache.find(widget.publicKey))?.row.placeholder;
    expect(await placeholder()).toBe('before');
    await changeWidget(suite.db, widget, `placeholder = 'after'`);
    cache.invalidateAll();
    expect(await placeholder()).toBe('after');
    cache.invalidateAll();
    isAway = true;
    clock.advance(STALE_MS);
    expect(await placeholder()).toBe('after');
    clock.advance(1);
    await expect(placeholder()).rejects.toThrow(WidgetUnavailableError);
  });

  test('do not serve once they are known to have changed', async () => {
    const widget = await createTestWidget(suite.db);
    await cache.find(widget.publicKey);
    isAway = true;
    cache.invalidate({ kind: 'widget', id: widget.id, accountId: widget.accountId });
    await expect(cache.find(widget.publicKey)).rejects.toThrow(WidgetUnavailableError);
  });
});
