import { newId } from '../../src/lib/ids.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { listUsage } from '../../src/services/billing/usage.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { sized } from '../support/size.js';
import { contextOf, insertAccount } from './fixtures.js';

const EVENTS = sized(40_000, 200_000);
const COLUMNS = `id, created_at, account_id, requested_model, served_model, endpoint, stream, input_tokens,
  output_tokens, price_in, price_out, cost, latency_ms, status, http_status`;

describe('usage listing', () => {
  let db: TestDatabase;
  const billing = createBillingService();
  beforeAll(async () => {
    db = await createTestDatabase();
    await makeUsageInsertable(db.pool);
  });
  afterAll(() => db.close());

  /** Brings the counts to what the flush keeps. */
  const countHours = (accountId: string) =>
    db.pool.query(
      `insert into account_usage_hours (account_id, hour, events)
       select account_id, date_trunc('hour', created_at, 'UTC'), count(*) from usage_events
       where account_id = $1 group by 1, 2`,
      [accountId],
    );

  test('contains all fields of an event', async () => {
    const [accountId, id, keyId] = [await insertAccount(db), newId(), newId()];
    await db.pool.query(
      `insert into usage_events (${COLUMNS}, key_id, ttft_ms, error_code, client_aborted, estimated, anomalous)
       values ($1, '2026-11-21T08:55:57.123Z', $2, 'gateway/qwen-pro', 'gateway/qwen-fast', 'chat', true, 7, 11,
         0.1, 0.3, 0.000004, 321, 'success', 200, $3, 45, null, true, true, false)`,
      [id, accountId, keyId],
    );
    await countHours(accountId);
    expect(await billing.usage(contextOf(db, accountId), { limit: 50, offset: 0 })).toEqual({
      total: 1,
      limit: 50,
      offset: 0,
      items: [
        {
          id,
          model_public_name: 'gateway/qwen-fast',
          requested_model: 'gateway/qwen-pro',
          key_id: keyId,
          endpoint: 'chat',
          stream: true,
          input_tokens: 7,
          output_tokens: 11,
          cost_usd: '0.000004',
          balance_after_usd: '0.000000',
          latency_ms: 321,
          ttft_ms: 45,
          status: 'success',
          error_code: null,
          error_message: null,
          http_status: 200,
          client_aborted: true,
          estimated: true,
          anomalous: false,
          prompt_version_id: null,
          created_at: '2026-11-21T08:55:57.123000Z',
          widget_id: null,
        },
      ],
    });
  });

  test('an account without usage has an empty page', async () => {
    const context = contextOf(db, await insertAccount(db));
    expect(await billing.usage(context, { limit: 5, offset: 0 })).toEqual({
      items: [],
      total: 0,
      limit: 5,
      offset: 0,
    });
    expect((await billing.usage(context, { limit: 5, offset: 9 })).items).toEqual([]);
  });

  describe(`${EVENTS} events in uneven hours, several partitions, many of one instant`, () => {
    let accountId: string;
    let truth: string[];

    beforeAll(async () => {
      accountId = await insertAccount(db);
      const stranger = await insertAccount(db);
      await db.pool.query(`
        create table calls_2026_09 partition of calls for values from ('2026-09-01Z') to ('2026-10-01Z');
        create table calls_2026_10 partition of calls for values from ('2026-10-01Z') to ('2026-11-01Z')`);
      // Squares crowd the newest hours; a whole second of grain makes instants that many events share.
      await db.pool.query(
        `insert into usage_events (${COLUMNS})
         select gen_random_uuid(), timestamptz '2026-11-20T17:30:00Z'
             - make_interval(secs => floor(60 * 86400 * (n / $2::float8) * (n / $2::float8))),
           case when n % 50 = 0 then $3::uuid else $1::uuid end, 'gateway/fast', 'gateway/fast', 'chat', false, 1, 1,
           0.1, 0.3, 0.0000004, 5, 'success', 200
         from generate_series(1, $2::int) n`,
        [accountId, EVENTS, stranger],
      );
      await countHours(accountId);
      await countHours(stranger);
      await db.pool.query('analyze calls');
      const naive = await db.pool.query<{ ids: string[] }>(
        'select array_agg(id::text order by created_at desc, id desc) as ids from usage_events where account_id = $1',
        [accountId],
      );
      truth = naive.rows[0]!.ids;
    });

    const pageAt = (offset: number, limit: number) =>
      billing.usage(contextOf(db, accountId), { limit, offset });

    test('every page, wherever it starts, is the same as with a plain offset', async () => {
      const hours = await db.pool.query<{ edge: string }>(
        `select sum(events) over (order by hour desc) as edge from account_usage_hours where account_id = $1
         order by hour desc`,
        [accountId],
      );
      const edges = hours.rows.map((row) => Number(row.edge));
      expect(edges.length).toBeGreaterThan(500);
      const borders = [0, 1, 2, 100, 400, edges.length - 2].map((index) => edges[index]!);
      const steps = Array.from({ length: 40 }, (_, index) => index * (EVENTS / 40 - 1));
      const offsets = [0, 1, ...borders.flatMap((edge) => [edge - 1, edge, edge + 1]), ...steps];
      for (const offset of [...offsets, truth.length - 1, truth.length - 37]) {
        for (const limit of [1, 37, 500]) {
          const page = await pageAt(offset, limit);
          expect({ offset, limit, ids: page.items.map((item) => item.id) }).toEqual({
            offset,
            limit,
            ids: truth.slice(offset, offset + limit),
          });
        }
      }
    });

    test('the total is exact on every page, also past the end', async () => {
      expect(truth).toHaveLength((EVENTS * 49) / 50);
      for (const offset of [
        0,
        Math.floor(EVENTS * 0.6),
        truth.length,
        truth.length + 1,
        Number.MAX_SAFE_INTEGER,
      ]) {
        expect((await pageAt(offset, 3)).total).toBe(truth.length);
      }
      expect((await pageAt(truth.length, 3)).items).toEqual([]);
    });

    test('a page reads only its own hours, however deep it is', async () => {
      const busiest = await db.pool.query<{ events: number }>(
        'select max(events) as events from account_usage_hours where account_id = $1',
        [accountId],
      );
      // Counters reach other sessions late, therefore one transaction looks at its own.
      const read = await db.orm.em.fork().transactional(async (em) => {
        const before = await tuplesRead(em);
        await listUsage(em, accountId, { limit: 50, offset: truth.length - 100 });
        return (await tuplesRead(em)) - before;
      });
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(busiest.rows[0]!.events + 5_000);
    });
  });
});

async function tuplesRead(em: ReturnType<typeof contextOf>['em']): Promise<number> {
  const rows = await em.execute<{ n: string }[]>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text as n from pg_stat_xact_user_tables`,
  );
  return Number(rows[0]!.n);
}
