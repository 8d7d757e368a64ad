import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR, type Money, parseMoney } from '../../src/lib/money.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { flushWhenFree, leaveSpool, metricOf, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestEdge,
  type TestKey,
  type TestKeyOptions,
} from '../support/edge.js';
import { checkInvariants } from '../support/invariants.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { createTestWidget, refusalOf, say } from '../widgets/edge-support.js';

const FLOOR = DOLLAR / 1000n;

/** Charges of an edge that has ended, which the next one finds in the spool while their account is locked. */
describe('charges of a dead edge that wait for a locked account', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let session: PoolClient;
  let directory: string;
  let edge: TestEdge | undefined;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
  });
  afterAll(async () => {
    await upstream.close();
    await db.close();
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-edge-'));
    session = await db.pool.connect();
    await session.query('begin');
  });
  afterEach(async () => {
    await session.query('rollback');
    session.release();
    await edge?.close();
    edge = undefined;
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const lockedKey = async (options: TestKeyOptions = {}): Promise<TestKey> => {
    const key = await createTestKey(db, options);
    await lock(key);
    return key;
  };
  const lock = ({ accountId }: Pick<TestKey, 'accountId'>) =>
    session.query('select from accounts where id = $1 for update', [accountId]);
  const charge = (key: TestKey, cost: Money): UsageRecord =>
    recordOf(key, { inputTokens: 1, outputTokens: 0, priceIn: cost });
  const leave = (...records: UsageRecord[]) => leaveSpool(join(directory, 'spool'), [records]);
  const start = async () => {
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, directory });
    return edge;
  };
  const call = async ({ key }: TestKey): Promise<string | number> => {
    const response = await postChat(edge!.url, key);
    if (response.status !== 200) return (await errorOf(response)).code;
    await response.arrayBuffer();
    return response.status;
  };
  const unlock = async ({ accountId }: Pick<TestKey, 'accountId'>, events: number) => {
    await session.query('rollback');
    const count = `select count(seq)::integer as n from calls where account_id = $1`;
    await until(async () => (await db.pool.query(count, [accountId])).rows[0].n === events, {
      timeoutMs: 10_000,
      what: 'the charges',
    });
    await edge!.settled();
  };

  test('adopted charges count against the balance, to the last unit, before and after their commit', async () => {
    const poor = await lockedKey();
    const able = await lockedKey();
    leave(charge(poor, DOLLAR - FLOOR + 1n), charge(able, DOLLAR - FLOOR));
    await start();
    expect(await Promise.all([poor, able].map(call))).toEqual(['insufficient_credits', 200]);
    await unlock(able, 2);
    expect(await balanceOf(db, poor.accountId)).toBe('0.000999999999');
    expect(await call(poor)).toBe('insufficient_credits');
    const topUp = (amount: string) =>
      db.pool.query(
        `with a as (update accounts set balance = balance + $2, ledger_seq = ledger_seq + 1 where id = $1 returning *)
         insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
         select $3, id, ledger_seq, 'adjustment', $2, balance, now() from a`,
        [poor.accountId, amount, newId()],
      );
    // Nothing of them counts any longer: what is missing to the floor is enough.
    await topUp('0.000000000001');
    await until(async () => (await call(poor)) === 200, { what: 'the top-up to be read' });
  });

  test('adopted charges count against the daily cap of the key', async () => {
    const key = await lockedKey({ dailyLimit: '0.5' });
    leave(charge(key, DOLLAR / 2n));
    await start();
    expect(await call(key)).toBe('daily_cap_exceeded');
    await unlock(key, 1);
    expect(await call(key)).toBe('daily_cap_exceeded');
  });

  test('adopted charges count in addition to what the key has spent that day', async () => {
    const key = await createTestKey(db, { dailyLimit: '0.5' });
    await flushWhenFree(db.pool, [charge(key, DOLLAR / 4n)]);
    await lock(key);
    leave(charge(key, DOLLAR / 4n));
    await start();
    expect(await call(key)).toBe('daily_cap_exceeded');
  });

  test('adopted charges count as messages of the widget', async () => {
    const widget = await createTestWidget(db, { columns: { daily_message_limit: 1 } });
    await lock(widget);
    leave({ ...recordOf({ accountId: widget.accountId, keyId: '' }), keyId: null, widgetId: widget.id });
    await start();
    const refused = [429, 'widget_daily_cap_exceeded'];
    expect(await refusalOf(await say(edge!.url, widget.publicKey))).toEqual(refused);
    await unlock(widget, 1);
    expect(await refusalOf(await say(edge!.url, widget.publicKey))).toEqual(refused);
  });

  test('adopted charges count once if some are already committed', async () => {
    const key = await createTestKey(db);
    const committed = charge(key, DOLLAR / 2n);
    await flushWhenFree(db.pool, [committed]);
    await lock(key);
    leave(committed, charge(key, DOLLAR / 4n));
    await start();
    expect(await call(key)).toBe(200);
  });

  test('adopted charges count as soon as a running edge adopts them', async () => {
    const key = await createTestKey(db);
    await start();
    expect(await call(key)).toBe(200);
    await edge!.settled();
    const left = parseMoney(await balanceOf(db, key.accountId));
    await lock(key);
    // One more call may be made, or was made before: the floor is what is left.
    leave(charge(key, left - FLOOR));
    await until(async () => (await metricOf(edge!.registry, 'metering_held_events')) === 1, {
      timeoutMs: 10_000,
      what: 'the adoption',
    });
    await until(async () => (await call(key)) === 'insufficient_credits', { what: 'a refusal' });
  });
});
