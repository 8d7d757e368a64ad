import { pgPool } from '../../src/db/connection.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { recordOf } from '../metering/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { watchPool } from '../support/watched-pool.js';
import { contextOf } from './fixtures.js';

const PATH = '/api/usage.csv';
const EVENTS = 2_500;

describe('the export of usage', () => {
  // Watches its pool.
  const suite = usePlatform({ own: true });
  let token: string;
  let accountId: string;
  let keyId: string;
  beforeEach(async () => {
    const { token: given, user } = await signUp(suite.url);
    token = given;
    accountId = user.id;
    ({ keyId } = await createTestKey(suite.db, { accountId }));
  });

  const get = (path = PATH) => call<ErrorAnswer>(suite.url, 'GET', path, { token });
  const linesOf = (text: string): string[] => text.split('\r\n').slice(0, -1);

  test('has the fields of the list, and nobody else’s events', async () => {
    const { user } = await signUp(suite.url);
    const stranger = {
      accountId: user.id,
      keyId: (await createTestKey(suite.db, { accountId: user.id })).keyId,
    };
    await flushBatch(suite.db.pool, [recordOf({ accountId, keyId }), recordOf(stranger)]);
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
    const list = await call<{ items: Record<string, unknown>[] }>(suite.url, 'GET', '/api/usage', {
      token,
    });
    const item = list.body.items[0]!;
    expect(linesOf(answer.text)).toEqual([
      Object.keys(item).join(','),
      Object.values(item)
        .map((value) => (value === null ? '' : String(value)))
        .join(','),
    ]);
  });

  test('without usage has only the header', async () => {
    expect(linesOf((await get()).text)).toHaveLength(1);
  });

  test('neutralises formulas that a caller put into a name', async () => {
    await flushBatch(suite.db.pool, [
      recordOf({ accountId, keyId }, { requestedModel: '=HYPERLINK("//x","y")' }),
    ]);
    expect((await get()).text).toContain(`,"'=HYPERLINK(""//x"",""y"")",`);
  });

  test('has every event once over several pages, even events of one instant, and reads one page at a time', async () => {
    const createdAt = Date.now();
    const records = Array.from({ length: EVENTS }, (_, n) =>
      recordOf({ accountId, keyId }, { createdAt: createdAt - (n % 3) }),
    );
    for (let n = 0; n < EVENTS; n += 500) await flushBatch(suite.db.pool, records.slice(n, n + 500));
    const lines = linesOf((await get()).text).slice(1);
    expect(lines.map((line) => line.split(',')[0]).sort()).toEqual(records.map(({ id }) => id).sort());

    const context = contextOf(suite.db, accountId);
    let pages = 0;
    watchPool(await pgPool(suite.db.orm), (text, ask) => {
      if (text.includes('from usage_events')) pages++;
      return ask();
    });
    const pieces = (await createBillingService().usageCsv(context))[Symbol.asyncIterator]();
    const read = [];
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) read.push(pages);
    expect(read).toEqual([1, 1, 2, 3]);
  });

  test('returns 401 without a session, 422 for invalid filters', async () => {
    expect((await call(suite.url, 'GET', PATH)).status).toBe(401);
    const answer = await get(`${PATH}?limit=5`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
  });
});
