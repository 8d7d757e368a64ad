import type { Pool } from 'pg';
import { newId } from '../../src/lib/ids.js';
import { runAudit } from '../../src/services/audit/audit.service.js';
import type { Finding } from '../../src/services/audit/findings.js';
import { invariants } from '../../src/services/audit/invariants.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { jobContext } from './support.js';

const ACCOUNT = newId();
const KEY = newId();
const EVENT = newId();
const ERROR = newId();
const AT = '2026-11-30T23:59:59.999Z';

interface BrokenBooks {
  execute(statement: string): Promise<unknown>;
  audit(): Promise<{ broken: Finding[]; logged: Record<string, unknown>[] }>;
}

/** An account with 1 dollar of credit, one charged call of 1,000 + 500 tokens and one failed call. */
async function plantCleanBooks(pool: Pool): Promise<void> {
  await pool.query(
    `insert into accounts (id, email, email_key, name, balance, ledger_seq, created_at)
     values ($1, 'a@example.com', 'a@example.com', 'A', 0.99975, 2, $2)`,
    [ACCOUNT, AT],
  );
  await pool.query(
    `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, monthly_limit_usd,
       monthly_limit_changed_at, created_at)
     values ($1, $2, 'k', 'sk-pr-abcd', 'wxyz', '\\x00', 0.0005, $3::timestamptz - interval '1 day', $3)`,
    [KEY, ACCOUNT, AT],
  );
  await plantAlert(pool);
  await insertEvent(pool, EVENT, { status: 'success', cost: '0.00025', input: 1000, output: 500 });
  await insertEvent(pool, ERROR, { status: 'error', cost: '0', input: 10, output: 0 });
  await pool.query(
    `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, idempotency_key, price_in, price_out, created_at)
     values ($1, $2, 1, 'starter', 1, 1, null, 'starter', null, null, $4),
            ($3, $2, 2, 'usage', -0.00025, 0.99975, null, null, null, null, $4)`,
    [newId(), ACCOUNT, newId(), AT],
  );
  await pool.query(`insert into key_spend_days (key_id, day, spend) values ($1, '2026-11-30', 0.00025)`, [
    KEY,
  ]);
  await pool.query(`insert into account_usage_hours values ($1, '2026-11-30T23:00:00Z', 2)`, [ACCOUNT]);
  await pool.query(
    `insert into usage_rollups values ('2026-11-30T23:00:00Z', $1, $2, null, 'gateway/fast', 2, 1, 1010, 500, 0.00025,
       '{13}', '{1}')`,
    [ACCOUNT, KEY],
  );
  await pool.query(
    `insert into model_hours values ('2026-11-30T23:00:00Z', 'gateway/fast', 1, 1, 0, 1010, 500, 0.00025, 500, 12,
       '{13}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', 0)`,
  );
  await pool.query(`insert into usage_latency_days values ('2026-11-30', $1, $2, null, '{13}', '{1}')`, [
    ACCOUNT,
    KEY,
  ]);
}

/** Half of the monthly limit was reached, and an alert was recorded. */
async function plantAlert(pool: Pool): Promise<void> {
  const subscription = newId();
  await pool.query(
    `insert into alert_subscriptions (id, account_id, key_id, kind, destination, thresholds_pct, created_at, updated_at)
     values ($1, $2, $3, 'email', 'a@example.com', '{50}', $4::timestamptz - interval '1 day',
       $4::timestamptz - interval '1 day')`,
    [subscription, ACCOUNT, KEY, AT],
  );
  // The audit looks for events of the firings of the last twelve months.
  await pool.query(
    `insert into threshold_firings values ($1, '2026-11', 50, greatest($2::timestamptz, now()))`,
    [KEY, AT],
  );
  await pool.query(
    `insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, threshold_pct,
       billing_month, spend, monthly_limit, fired_at, pending_since, delivery_status)
     values ($1, $2, $3, $4, 'threshold', 'email', 'a@example.com', 50, '2026-11', 0.00025, 0.0005, $5, $5, 'sent')`,
    [newId(), ACCOUNT, KEY, subscription, AT],
  );
}

function insertEvent(
  pool: Pool,
  id: string,
  event: { status: string; cost: string; input: number; output: number; at?: string },
) {
  const isCharged = Number(event.cost) > 0;
  return pool.query(
    `insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
       input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status, seq, balance_after)
     values ($1, $2, $3, $4, 'gateway/fast', 'gateway/fast', 'chat', false, $5, $6, 0.1, 0.3, $7, 12, $8, 200, $9, $10)`,
    [id, event.at ?? AT, ACCOUNT, KEY, event.input, event.output, event.cost, event.status].concat(
      isCharged ? ['2', '0.99975'] : ([null, null] as never[]),
    ),
  );
}

const UNLOCK_LEDGER = 'alter table ledger_entries disable trigger all';
const entry = (seq: number, kind: string, amount: number, after: number, more = 'null, null') =>
  `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, idempotency_key, created_at)
   values ('${newId()}', '${ACCOUNT}', ${seq}, '${kind}', ${amount}, ${after}, ${more}, '${AT}')`;

/** One way to break each invariant, past the constraints that usually prevent it, and all invariants that this violates. */
const corruptions: Record<string, { statements: string[]; also?: string[] }> = {
  'I1-event': {
    // The same id in another partition: the unique index is of one partition.
    statements: [
      `create table calls_october partition of calls for values from ('2026-10-01') to ('2026-11-01')`,
      `insert into calls select (jsonb_populate_record(null::calls,
         to_jsonb(c) || '{"created_at": "2026-10-01T00:00:00Z"}')).* from calls c where id = '${ERROR}'`,
    ],
    also: ['I10-hour', 'I10-rollup', 'I10-model'],
  },
  'I1-entry': {
    statements: [
      'alter table ledger_entries drop constraint ledger_entries_charge_id',
      entry(3, 'usage', -0.00025, 0.9995, `'${EVENT}', null`),
      `update accounts set balance = 0.9995, ledger_seq = 3`,
      `insert into ledger_entries select (jsonb_populate_record(null::ledger_entries,
         to_jsonb(l) || '{"id": "${newId()}", "seq": 4, "balance_after": 0.99925}')).* from ledger_entries l where seq = 3`,
      `update accounts set balance = 0.99925, ledger_seq = 4`,
    ],
    also: ['I2-former'],
  },
  'I1-idempotency': {
    statements: [
      'drop index ledger_entries_idempotency',
      entry(3, 'topup', 1, 1.99975, `null, 'starter'`),
      'update accounts set balance = 1.99975, ledger_seq = 3',
    ],
  },
  I2: {
    // A charge of another amount, whose balance hides it from the other checks.
    statements: [
      `update calls set cost = 0.0005, input_tokens = 2000, output_tokens = 1000, balance_after = 0.9995 where id = '${EVENT}'`,
      'update key_spend_days set spend = 0.0005',
      'update usage_rollups set input_tokens = 2010, output_tokens = 1000, cost = 0.0005',
      'update model_hours set input_tokens = 2010, output_tokens = 1000, cost = 0.0005',
    ],
  },
  'I2-former': {
    // An entry of version 1.1 without its call.
    statements: [
      entry(3, 'usage', -0.00025, 0.9995, `'${KEY}', null`).replace(/values \('[^']+'/, `values ('${KEY}'`),
      'update accounts set balance = 0.9995, ledger_seq = 3',
    ],
  },
  I3: {
    statements: [
      `update calls set output_tokens = 501 where id = '${EVENT}'`,
      'update usage_rollups set output_tokens = 501',
      'update model_hours set output_tokens = 501',
    ],
  },
  I4: {
    statements: ['update accounts set balance = balance + 0.000000000001'],
  },
  'I6-calls': { statements: [`update calls set balance_after = balance_after + 1 where id = '${EVENT}'`] },
  'I6-chain': {
    statements: [UNLOCK_LEDGER, 'update ledger_entries set balance_after = balance_after + 1 where seq = 1'],
    also: ['I6-calls'],
  },
  I7: {
    // Two calls of 0.00025 on almost no balance: the second was admitted though nothing was left.
    statements: [
      UNLOCK_LEDGER,
      `update ledger_entries set amount = 0.00000000005, balance_after = 0.00000000005 where seq = 1`,
      `update calls set balance_after = -0.00024999995 where id = '${EVENT}'`,
      // A most expensive call of 0.00025 allows down to 0.00075; only a second call without a hold goes below.
      `update calls set failed = false, input_tokens = 1000, output_tokens = 500, cost = 0.00025, seq = 3,
         balance_after = -0.00049999995 where id = '${ERROR}'`,
      `update ledger_entries set seq = 3, amount = -0.0005, balance_after = -0.00049999995 where seq = 2`,
      `update accounts set balance = -0.00049999995, ledger_seq = 3`,
      'update key_spend_days set spend = 0.0005',
      `update usage_rollups set errors = 0, input_tokens = 2000, output_tokens = 1000, cost = 0.0005, latency_counts = '{2}'`,
      `update usage_latency_days set latency_counts = '{2}'`,
      'update model_hours set successes = 2, errors = 0, input_tokens = 2000, output_tokens = 1000, cost = 0.0005',
    ],
  },
  I8: {
    statements: [
      `update calls set failed = true where id = '${EVENT}'`,
      `update usage_rollups set errors = 2, latency_counts = '{}'`,
      'update model_hours set successes = 0, errors = 2',
      `update usage_latency_days set latency_counts = '{}'`,
    ],
  },
  'I10-day': { statements: [`update key_spend_days set day = '2026-12-01'`] },
  'I10-hour': { statements: ['update account_usage_hours set events = 1'] },
  'I10-rollup': {
    statements: [
      'update usage_rollups set latency_counts = latency_counts || 1',
      'update usage_latency_days set latency_counts = latency_counts || 1::bigint',
    ],
  },
  'I10-model': { statements: ['update model_hours set caller_errors = 1'] },
  'I10-version': {
    statements: [
      `insert into prompt_version_hours values ('${KEY}', '2026-11-30T23:00:00Z', '${ACCOUNT}', null, 'gateway/fast', 1, 0, 1, 1,
         0, '{13}', '{1}')`,
      `insert into prompt_version_latency_days values ('${KEY}', '2026-11-30', '${ACCOUNT}', '{13}', '{1}')`,
    ],
  },
  'I10-version-day': {
    statements: [
      `insert into prompt_version_latency_days values ('${KEY}', '2026-11-30', '${ACCOUNT}', '{13}', '{1}')`,
    ],
  },
  'I10-latency-day': { statements: [`update usage_latency_days set day = '2026-11-29'`] },
  'I11-firing': {
    statements: [
      'alter table threshold_firings drop constraint threshold_firings_pkey',
      'insert into threshold_firings select * from threshold_firings',
    ],
  },
  'I11-event': {
    statements: [
      'drop index alert_events_once',
      'alter table alert_events alter column lane drop expression',
      `insert into alert_events select (jsonb_populate_record(null::alert_events,
         to_jsonb(e) || '{"id": "${newId()}"}')).* from alert_events e`,
    ],
  },
  'I11-fired': { statements: ['delete from threshold_firings'] },
  'I11-told': { statements: ['delete from alert_events'] },
  'I12-pending': {
    statements: [
      `update alert_events set delivery_status = 'pending', next_attempt_at = now(),
         pending_since = now() - interval '11 minutes'`,
    ],
  },
  'I14-acted': {
    // Spend of this month that no flush wrote.
    statements: [
      `insert into key_guards (key_id, at_pct, action) values ('${KEY}', 100, 'slow')`,
      `insert into key_spend_days values ('${KEY}', date_trunc('month', now() at time zone 'UTC')::date, 0.0005)`,
    ],
    also: ['I10-day'],
  },
  'I14-told': {
    statements: [
      `insert into key_guards (key_id, at_pct, action, acted_month, acted_at)
       values ('${KEY}', 50, 'slow', to_char(now() at time zone 'UTC', 'YYYY-MM'), now())`,
    ],
  },
  'I14-once': {
    // The alert of the percentage reports it, and so does another event to the same subscription.
    statements: [
      `update alert_events set guard_action = 'slow'`,
      'alter table alert_events alter column lane drop expression',
      `insert into alert_events select (jsonb_populate_record(null::alert_events,
         to_jsonb(e) || '{"id": "${newId()}", "purpose": "guard"}')).* from alert_events e`,
    ],
  },
  'I14-refused': {
    statements: [
      `insert into key_guards (key_id, at_pct, action, acted_month, acted_at)
       values ('${KEY}', 50, 'disable', '2026-11', '${AT}'::timestamptz - interval '6 minutes')`,
      `update alert_events set guard_action = 'disable', fired_at = '${AT}'::timestamptz - interval '6 minutes'`,
    ],
  },
  I13: {
    statements: [`update calls set ttft_ms = -1 where id = '${EVENT}'`],
  },
};

describe('the audit', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await makeUsageInsertable(database.pool);
    await plantCleanBooks(database.pool);
  });
  afterAll(() => database.close());

  /** Breaks the books in a transaction that is rolled back, so that the next test finds them clean. */
  const inVain = async (work: (books: BrokenBooks) => Promise<void>): Promise<void> => {
    const rollback = new Error('the end of the test');
    const done = database.orm.em.transactional(async (em) => {
      // The audit's transaction is nested in ours, so it sees the broken books.
      const inside = Object.assign(em, { fork: () => em });
      await work({
        execute: (statement) => em.execute(statement),
        async audit() {
          const { context, logged } = jobContext({ em: inside });
          const findings = await runAudit(context);
          return { broken: findings.filter(({ violations }) => violations > 0), logged };
        },
      });
      throw rollback;
    });
    await done.catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  };

  test('finds nothing in clean books', async () => {
    const { context, logged } = jobContext(database.orm);
    const findings = await runAudit(context);
    expect(findings.filter(({ violations }) => violations > 0)).toEqual([]);
    expect(findings).toHaveLength(invariants.length);
    expect(logged).toEqual([]);
  });

  test('has a corruption to find for each of its invariants', () => {
    expect(Object.keys(corruptions).sort()).toEqual(invariants.map(({ name }) => name).sort());
  });

  test.each([
    ['without an active subscription', 'update alert_subscriptions set active = false'],
    ['without a limit', 'update api_keys set monthly_limit_usd = null'],
    ['that was not reached', 'update api_keys set monthly_limit_usd = 0.001'],
    ['that was set after the last call', `update alert_subscriptions set updated_at = '${AT}'`],
    ['of a limit that was set after the last call', `update api_keys set monthly_limit_changed_at = '${AT}'`],
  ])('reports no missing alert of a threshold %s', async (_what, statement) => {
    await inVain(async ({ execute, audit }) => {
      await execute('delete from alert_events');
      await execute('delete from threshold_firings');
      await execute(statement);
      expect((await audit()).broken).toEqual([]);
    });
  });

  test.each([
    ['was undone', 'update key_guards set undone = true'],
    ['only slows the key', `update key_guards set action = 'slow'`],
    ['acted while the calls ran', `update key_guards set acted_at = '${AT}'`],
    ['has no limit any more', 'update api_keys set monthly_limit_usd = null'],
    ['got its limit after that', `update api_keys set monthly_limit_changed_at = '${AT}'`],
  ])('accepts calls that begin after a guard that %s', async (_what, statement) => {
    await inVain(async ({ execute, audit }) => {
      for (const one of corruptions['I14-refused']!.statements) await execute(one);
      await execute(statement);
      await execute('update alert_events e set fired_at = acted_at, guard_action = action from key_guards');
      expect((await audit()).broken).toEqual([]);
    });
  });

  test.each([
    'requests = 3',
    'errors = 0',
    'input_tokens = 0',
    'output_tokens = 0',
    'cost = 0',
    `hour = hour - interval '1 hour'`,
    `model = 'gateway/slow'`,
    'key_id = null',
    'widget_id = key_id',
  ])('finds a roll-up with a wrong %s, unless its hour waits to be rolled up', async (change) => {
    await inVain(async ({ execute, audit }) => {
      await execute(`update usage_rollups set ${change}`);
      if (/^(?:key|widget)_id/.test(change)) await execute(`update usage_latency_days set ${change}`);
      const names = async () => (await audit()).broken.map(({ invariant }) => invariant.name);
      // A key's day is the sum of its rolled-up hours.
      const spend = /^(?:cost|key_id)/.test(change) ? ['I10-day'] : [];
      expect((await names()).sort()).toEqual([...spend, 'I10-rollup']);
      await execute(`insert into rollup_dirty values ('2026-11-30T22:00:00Z'), ('2026-11-30T23:00:00Z')`);
      expect(await names()).toEqual([]);
    });
  });

  test.each(Object.keys(corruptions))(
    'finds a planted violation of %s, names it, and nothing else',
    async (name) => {
      const { statements, also = [] } = corruptions[name]!;
      await inVain(async ({ execute, audit }) => {
        for (const statement of statements) await execute(statement);
        const { broken, logged } = await audit();
        expect(broken.map(({ invariant }) => invariant.name).sort()).toEqual([name, ...also].sort());
        expect(logged.map((line) => [line.level, line.invariant]).sort()).toEqual(
          [name, ...also].map((invariant) => [50, invariant]).sort(),
        );
        expect(broken[0]!.subjects.length).toBeGreaterThan(0);
      });
    },
  );
});
