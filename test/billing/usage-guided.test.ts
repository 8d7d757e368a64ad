import type { EntityManager } from '@mikro-orm/postgresql';
import { hourStart } from '../../src/lib/clock.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { exportUsage } from '../../src/services/billing/csv-exports.js';
import type { UsageSelection } from '../../src/services/billing/usage-filter.rules.js';
import { pageUsage } from '../../src/services/billing/usage-rows.store.js';
import { HOUR_MS, rollUpAt } from '../analytics/support.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey } from '../support/edge.js';
import fc from '../support/fast-check.js';

const NOW = hourStart(Date.now()) + 10 * 60_000;
const MODELS = ['gateway/fast', 'gateway/qwen-pro', 'gateway/embed'];
const STATUSES = ['success', 'error'] as const;

/** Several events of one instant, so that pages end among them. */
const event = fc.record({
  hoursAgo: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 400 })),
  minute: fc.integer({ min: 0, max: 2 }),
  key: fc.integer({ min: 0, max: 2 }),
  model: fc.integer({ min: 0, max: 1 }),
  status: fc.constantFrom(...STATUSES),
  late: fc.boolean(),
});
type UsedEvent = typeof event extends fc.Arbitrary<infer Value> ? Value : never;
const filter = fc.record({
  key: fc.option(fc.integer({ min: 0, max: 2 })),
  model: fc.option(fc.integer({ min: 0, max: 2 })),
  status: fc.option(fc.constantFrom(...STATUSES)),
  fromHoursAgo: fc.option(fc.integer({ min: 0, max: 500 })),
  untilHoursAgo: fc.option(fc.integer({ min: 0, max: 300 })),
});

describe('usage narrowed by a filter', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const plain = async (accountId: string, { keyId, model, status, from, until }: UsageSelection) => {
    const { rows } = await db.pool.query<{ id: string }>(
      `select id from usage_events where account_id = $1 and ($2::uuid is null or key_id = $2)
         and ($3::text is null or served_model = $3) and ($4::text is null or status = $4)
         and ($5::timestamptz is null or created_at >= $5) and ($6::timestamptz is null or created_at < $6)
       order by created_at desc, id desc`,
      [accountId, keyId, model, status, from, until],
    );
    return rows.map(({ id }) => id);
  };

  const walk = async (
    accountId: string,
    selection: UsageSelection,
    { first, back, from }: { first: number; back: boolean; from?: Cursor },
  ) => {
    const ids: string[] = [];
    let cursor = from;
    for (;;) {
      const at = back ? { before: cursor } : { after: cursor };
      const page = await pageUsage(db.orm.em.fork(), accountId, { first, selection, ...at });
      const found = page.edges.map(({ node }) => node.id);
      if (back) ids.unshift(...found);
      else ids.push(...found);
      if (!(back ? page.hasPreviousPage : page.hasNextPage)) return { ids, last: page.edges.at(-1)?.cursor };
      cursor = positionOf(page.edges.at(back ? 0 : -1)!.cursor);
    }
  };

  const exported = async (accountId: string, selection: UsageSelection) => {
    const lines: string[] = [];
    for await (const piece of await exportUsage(db.orm.em.fork(), accountId, selection)) {
      lines.push(...piece.split('\r\n').slice(0, -1));
    }
    return lines.slice(1).map((line) => line.split(',')[0]);
  };

  const write = async (payer: Payer, keyIds: string[], events: readonly UsedEvent[]) => {
    if (events.length === 0) return;
    await flushBatch(
      db.pool,
      events.map(({ hoursAgo, minute, key, model, status }) =>
        recordOf(
          { accountId: payer.accountId, keyId: keyIds[key]! },
          {
            createdAt: NOW - hoursAgo * HOUR_MS + minute * 60_000,
            servedModel: MODELS[model]!,
            ...(status === 'error' && { status, errorCode: 'upstream_error', cost: 0n }),
          },
        ),
      ),
    );
  };

  test('is what a plain query finds, in pages of any size in both directions and as CSV', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 60 }),
        fc.array(fc.tuple(filter, fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 4 }),
        async (events, filters) => {
          const payer = await createPayer(db.pool);
          const others = [1, 2].map(() => createTestKey(db, { accountId: payer.accountId }));
          const keyIds = [payer.keyId, ...(await Promise.all(others)).map(({ keyId }) => keyId)];
          await write(
            payer,
            keyIds,
            events.filter(({ late }) => !late),
          );
          await rollUpAt(db, NOW);
          await write(
            payer,
            keyIds,
            events.filter(({ late }) => late),
          );
          for (const [{ key, model, status, fromHoursAgo, untilHoursAgo }, first] of filters) {
            const selection: UsageSelection = {
              ...(key !== null && { keyId: keyIds[key] }),
              ...(model !== null && { model: MODELS[model] }),
              ...(status !== null && { status }),
              ...(fromHoursAgo !== null && { from: new Date(hourStart(NOW) - fromHoursAgo * HOUR_MS) }),
              ...(untilHoursAgo !== null && { until: new Date(hourStart(NOW) - untilHoursAgo * HOUR_MS) }),
            };
            const expected = await plain(payer.accountId, selection);
            const { ids, last } = await walk(payer.accountId, selection, { first, back: false });
            expect(ids).toEqual(expected);
            if (last) {
              const back = { first, back: true, from: positionOf(last) };
              expect((await walk(payer.accountId, selection, back)).ids).toEqual(expected.slice(0, -1));
            }
            expect(await exported(payer.accountId, selection)).toEqual(expected);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test('reads no event of rolled-up hours without a match', async () => {
    const payer = await createPayer(db.pool);
    const records = Array.from({ length: 300 }, (_, n) =>
      recordOf(payer, { createdAt: NOW - (1 + (n % 100)) * HOUR_MS }),
    );
    const odd = { servedModel: 'gateway/embed', createdAt: NOW - 50 * HOUR_MS };
    await flushBatch(db.pool, [...records, recordOf(payer, odd)]);
    await rollUpAt(db, NOW);
    const eventsRead = (selection: UsageSelection) =>
      db.orm.em.fork().transactional(async (em) => {
        const before = await rowsRead(em);
        await pageUsage(em, payer.accountId, { first: 20, selection });
        return (await rowsRead(em)) - before;
      });
    expect(await eventsRead({ model: 'gateway/none' })).toBe(0);
    expect(await eventsRead({ status: 'error' })).toBe(0);
    expect(await eventsRead({ model: 'gateway/embed' })).toBeLessThan(20);
    expect(await eventsRead({ model: 'gateway/fast' })).toBeLessThan(60);
  });
});

/** Rows of events that the session has read. */
async function rowsRead(em: EntityManager): Promise<number> {
  const rows = await em.execute<{ n: string }[]>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text as n from pg_stat_xact_user_tables
     where relname like 'usage_events%'`,
  );
  return Number(rows[0]!.n);
}

interface Cursor {
  createdUs: string;
  id: string;
}

function positionOf(cursor: string): Cursor {
  const [createdUs = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  return { createdUs, id };
}
