import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { chatBody, Upload } from '../support/upload.js';

/** How often an edge forgets what no key and no widget refers to any more. */
const SWEEP_MS = 60_000;

describe('a key that changes while a body is uploaded', () => {
  const sweeps: (() => void)[] = [];
  const { setInterval } = globalThis;
  beforeAll(() => {
    // A test can't wait for a minute.
    globalThis.setInterval = ((run: () => void, ms?: number) => {
      if (ms === SWEEP_MS) sweeps.push(run);
      return setInterval(run, ms);
    }) as never;
  });
  const suite = useEdge();
  afterAll(() => {
    globalThis.setInterval = setInterval;
  });

  const change = async (sql: string, id: string, kind: string) => {
    await suite.db.pool.query(sql, [id]);
    await suite.db.pool.query(`select pg_notify('gateway_invalidate', $1)`, [`${kind}:${id}`]);
  };
  const statusOf = async (key: string, model = 'gateway/fast') =>
    (await postChat(suite.edge.url, key, { model })).status;

  test.each([
    ['disabled', `update api_keys set status = 'disabled' where id = $1`, 'key', 401],
    ['deleted', 'delete from api_keys where id = $1', 'key', 401],
    ['capped', 'update api_keys set daily_limit_usd = 0 where id = $1', 'key', 402],
    ['disabled with its account', `update accounts set status = 'disabled' where id = $1`, 'account', 401],
    ['moved to another plan', `update accounts set plan_id = 'free' where id = $1`, 'account', 403],
  ])('%s is judged by its state when the body has arrived', async (_what, sql, kind, status) => {
    const model = 'gateway/qwen-pro';
    const caller = await createTestKey(suite.db);
    const body = chatBody(100_000, { model });
    const upload = await Upload.start(suite.edge.url, caller.key, { length: body.length });
    upload.send(body.slice(0, 50_000));
    await change(sql, kind === 'key' ? caller.keyId : caller.accountId, kind);
    await until(async () => (await statusOf(caller.key, model)) === status);
    const before = suite.upstream.seen.length;
    upload.send(body.slice(50_000));
    expect((await upload.answer()).status).toBe(status);
    expect(suite.upstream.seen.slice(before).filter(({ body: { length } }) => length >= 100_000)).toEqual([]);
  });

  test("and is deleted leaves the account's money exact: a top-up counts at once", async () => {
    const going = await createTestKey(suite.db, { balance: '0.01' });
    const staying = await createTestKey(suite.db, { accountId: going.accountId });
    const body = chatBody(100_000);
    const upload = await Upload.start(suite.edge.url, going.key, { length: body.length });
    upload.send(body.slice(0, 50_000));
    await change('delete from api_keys where id = $1', going.keyId, 'key');
    await until(async () => (await statusOf(going.key)) === 401);
    expect(sweeps).toHaveLength(1);
    for (let i = 0; i < 2; i++) for (const sweep of sweeps) sweep();
    let answer = (): void => undefined;
    suite.upstream.answer((request, response) => {
      const reply = () =>
        void chat({ usage: { prompt_tokens: 0, completion_tokens: 9_000 } })(request, response);
      if (request.body.length >= 100_000) answer = reply;
      else reply();
    });
    const before = suite.upstream.seen.length;
    upload.send(body.slice(50_000));
    await until(() => upload.status !== undefined || suite.upstream.seen.length > before);
    expect(await statusOf(staying.key)).toBe(200);
    answer();
    await upload.answer();
    await suite.edge.settled();
    const set = (balance: number) =>
      change(
        `update accounts set balance = ${balance}, ledger_seq = ledger_seq + 1 where id = $1`,
        going.accountId,
        'account',
      );
    for (const [balance, status] of [
      [0, 402],
      [10, 200],
    ] as const) {
      await set(balance);
      await until(async () => (await statusOf(staying.key)) === status, {
        timeoutMs: 2_000,
        what: `a balance of ${balance} to count`,
      });
      await suite.edge.settled();
    }
  });
});
