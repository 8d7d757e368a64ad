import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';

describe('a change on the platform', () => {
  const suite = useEdge();
  const change = async (sql: string, id: string, payload: string) => {
    const client = await suite.db.pool.connect();
    await client.query('begin');
    await client.query(sql, [id]);
    await client.query(`select pg_notify('gateway_invalidate', $1)`, [payload]);
    await client.query('commit');
    client.release();
  };

  test.each([
    ['disabling a key', `update api_keys set status = 'disabled' where id = $1`, 'key', 401],
    ['deleting a key', 'delete from api_keys where id = $1', 'key', 401],
    ['a cap of 0', 'update api_keys set daily_limit_usd = 0 where id = $1', 'key', 402],
    ['disabling the account', `update accounts set status = 'disabled' where id = $1`, 'account', 401],
    [
      'an empty balance',
      'update accounts set balance = 0, ledger_seq = ledger_seq + 1 where id = $1',
      'account',
      402,
    ],
    ['another plan', `update accounts set plan_id = 'free' where id = $1`, 'account', 403],
  ])('such as %s is effective on a warm key at once', async (_what, sql, kind, status) => {
    const caller = await createTestKey(suite.db);
    const model = 'gateway/qwen-pro';
    expect((await postChat(suite.edge.url, caller.key, { model })).status).toBe(200);
    await suite.edge.settled();
    const id = kind === 'key' ? caller.keyId : caller.accountId;
    await change(sql, id, `${kind}:${id}`);
    const isEffective = async () => (await postChat(suite.edge.url, caller.key, { model })).status === status;
    // Sooner than a key in use is read again.
    await soonerThan(2_000, isEffective, 'the change is effective');
  });

  test('such as a top-up lets a refused caller in at once', async () => {
    const caller = await createTestKey(suite.db, { balance: '0' });
    expect((await postChat(suite.edge.url, caller.key)).status).toBe(402);
    await change(
      'update accounts set balance = 10, ledger_seq = ledger_seq + 1 where id = $1',
      caller.accountId,
      `account:${caller.accountId}`,
    );
    const isLetIn = async () => (await postChat(suite.edge.url, caller.key)).status === 200;
    await soonerThan(2_000, isLetIn, 'the caller is let in');
  });

  test('that creates a key just after it was first presented is seen', async () => {
    const caller = await createTestKey(suite.db);
    const row = await suite.db.pool.query('delete from api_keys where id = $1 returning *', [caller.keyId]);
    expect((await postChat(suite.edge.url, caller.key)).status).toBe(401);
    const columns = Object.keys(row.rows[0]);
    await suite.db.pool.query(
      `insert into api_keys (${columns.join(',')}) values (${columns.map((_, i) => `$${i + 1}`).join(',')})`,
      Object.values(row.rows[0]),
    );
    await until(async () => (await postChat(suite.edge.url, caller.key)).status === 200, {
      timeoutMs: 2_000,
    });
  });
});
