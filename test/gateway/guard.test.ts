import { monthStart, utcDay } from '../../src/lib/clock.js';
import { limitKey } from '../alerts/support.js';
import {
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestKey,
  type TestKeyOptions,
  usageOf,
} from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chat, FULL_STREAM, stream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

/** Of a call to gateway/fast that the scripted upstream answers. */
const COST = 0.0000114;

describe('a key whose guard acts', () => {
  let now = Date.now();
  const suite = useEdge({ clock: { now: () => now } });
  beforeEach(() => {
    suite.upstream.answer(chat());
  });

  /** Sets a guard as the platform does. */
  const guard = async (key: TestKey, action: string, { dollars = COST, pct = 100, model = '' } = {}) => {
    await limitKey(suite.db.pool, key, dollars);
    await suite.db.pool.query(
      `insert into key_guards (key_id, at_pct, action, model_public_name) values ($1, $2, $3, $4)`,
      [key.keyId, pct, action, model || null],
    );
    await changed(key);
  };
  const changed = (key: TestKey) =>
    suite.db.pool.query(`select pg_notify('gateway_invalidate', $1)`, [`key:${key.keyId}:${key.accountId}`]);
  const guarded = async (action: string, set = {}, options: TestKeyOptions = {}): Promise<TestKey> => {
    const key = await createTestKey(suite.db, options);
    await guard(key, action, set);
    return key;
  };
  const post = (key: TestKey, body: unknown = {}) => postChat(suite.edge.url, key.key, body);
  const actedOf = async ({ keyId }: TestKey): Promise<string | null> => {
    const { rows } = await suite.db.pool.query('select acted_month from key_guards where key_id = $1', [
      keyId,
    ]);
    return rows[0].acted_month;
  };

  test('disable: the next call is refused with 402 key_guard_reached, and SDKs are asked not to retry', async () => {
    const key = await guarded('disable');
    expect((await post(key)).status).toBe(200);
    // Whether or not the flush has committed.
    const refused = await post(key);
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([402, 'false']);
    expect(await errorOf(refused)).toEqual({
      message: expect.stringContaining('guard'),
      type: 'insufficient_quota',
      param: null,
      code: 'key_guard_reached',
    });
    await suite.edge.settled();
    expect(await actedOf(key)).toBe(utcDay(now).slice(0, 7));
    expect((await post(key)).status).toBe(402);
    const { headers } = await fetch(`${suite.edge.url}/v1/models`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    expect(headers.get('content-type')).toContain('json');
    await until(async () => {
      const { rows } = await suite.db.pool.query(
        `select calls::int from refused_call_hours where key_id = $1 and code = 'key_guard_reached'`,
        [key.keyId],
      );
      return rows[0]?.calls === 2;
    });
  });

  test('disable: no more than one call of many at once passes its percentage', async () => {
    const key = await guarded('disable');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => post(key, n % 2 ? { stream: false } : {})),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) expect([200, 402]).toContain(answer.status);
    await suite.edge.settled();
    expect(await usageOf(suite.db, key.accountId)).toHaveLength(1);
  });

  test('disable: a running stream is completed, and counts while it runs', async () => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    suite.upstream.answer(async (request, response) => {
      if (request.body.includes('"stream":true')) await held;
      return stream(FULL_STREAM)(request, response);
    });
    const key = await guarded('disable');
    const running = post(key, { stream: true });
    await until(
      () => suite.upstream.begun() > 0 && suite.upstream.seen.at(-1)?.body.includes('"stream":true'),
    );
    const refused = await post(key);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, '1']);
    end();
    expect(await (await running).text()).toContain('[DONE]');
    expect((await post(key)).headers.get('retry-after')).toBeNull();
  });

  test('serves again for the rest of the month when the guard is undone by hand, and is guarded again in the next', async () => {
    const key = await guarded('disable');
    expect((await post(key)).status).toBe(200);
    await suite.edge.settled();
    await suite.db.pool.query('update key_guards set undone = true where key_id = $1', [key.keyId]);
    await changed(key);
    await until(async () => (await post(key)).status === 200);
    expect((await post(key)).status).toBe(200);
    await suite.edge.settled();
    now = monthStart(now, 1).getTime() + 1_000;
    expect((await post(key)).status).toBe(200);
    expect((await post(key)).status).toBe(402);
    await suite.edge.settled();
    expect(await actedOf(key)).toBe(utcDay(now).slice(0, 7));
  });

  test('serves again when the month ends, to the millisecond', async () => {
    const key = await guarded('disable');
    expect((await post(key)).status).toBe(200);
    await suite.edge.settled();
    now = monthStart(now, 1).getTime() - 1;
    expect((await post(key)).status).toBe(402);
    now += 1;
    expect((await post(key)).status).toBe(200);
    await suite.edge.settled();
  });

  test('begins a new month without the uncommitted usage of the last one', async () => {
    const key = await guarded('disable');
    const lock = await suite.db.pool.connect();
    await lock.query('begin');
    await lock.query('select 1 from accounts where id = $1 for update', [key.accountId]);
    now = monthStart(now, 1).getTime() - 1;
    expect((await post(key)).status).toBe(200);
    expect((await post(key)).status).toBe(402);
    now += 1;
    expect((await post(key)).status).toBe(200);
    expect((await post(key)).status).toBe(402);
    await lock.query('commit');
    lock.release();
    await suite.edge.settled();
    expect(await actedOf(key)).toBe(utcDay(now).slice(0, 7));
  });

  test("slow: allows a tenth of the plan's requests per minute, and keeps no call waiting", async () => {
    const key = await guarded('slow', {}, { plan: 'free' });
    expect((await post(key)).headers.get('x-ratelimit-limit-requests')).toBe('20');
    await suite.edge.settled();
    const served = await post(key);
    expect([served.status, served.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '2']);
    expect((await post(key)).status).toBe(200);
    const refused = await post(key);
    expect([refused.status, (await errorOf(refused)).code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    now += 61_000;
    expect((await post(key)).status).toBe(200);
  });

  test('fallback_model: calls run on the other model at its price, and both models are recorded', async () => {
    const model = 'gateway/qwen-pro';
    const key = await guarded('fallback_model', { model: 'gateway/fast' });
    const bodies = { messages: [{ role: 'user', content: `"model":"${model}"` }], model, user: model };
    expect(await (await post(key, bodies)).json()).toMatchObject({ model });
    const moved = await post(key, bodies);
    expect([moved.status, await moved.json()]).toMatchObject([200, { model: 'gateway/fast' }]);
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body)).toEqual({ ...bodies, model: 'gateway/fast' });
    suite.upstream.answer(stream(FULL_STREAM));
    await (await post(key, { ...bodies, stream: true })).text();
    await suite.edge.settled();
    const records = await usageOf(suite.db, key.accountId);
    expect(records.map((one) => [one.requested_model, one.served_model, one.cost])).toEqual([
      [model, model, '0.000057000000'],
      [model, 'gateway/fast', '0.000011400000'],
      [model, 'gateway/fast', '0.000011400000'],
    ]);
    const { rows } = await suite.db.pool.query<{ moved_to: string | null }>(
      'select moved_to from usage_events where account_id = $1 order by created_at',
      [key.accountId],
    );
    expect(rows.map((row) => row.moved_to)).toEqual([null, 'gateway/fast', 'gateway/fast']);
  });

  test('fallback_model: moves a large body too, and changes nothing else in it', async () => {
    const key = await guarded('fallback_model', { model: 'gateway/fast' });
    await post(key, { model: 'gateway/qwen-pro' });
    const content = '"model":"gateway/qwen-pro" \\" '.repeat(5_000);
    const body = { messages: [{ role: 'user', content }], model: 'gateway/qwen-pro', temperature: 0 };
    expect((await post(key, body)).status).toBe(200);
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body)).toEqual({ ...body, model: 'gateway/fast' });
  });

  test.each([
    ['a model that is no dearer', { model: 'gateway/fast' }, 'gateway/qwen-fast'],
    ['the model itself', { model: 'gateway/fast' }, 'gateway/fast'],
  ])("fallback_model: doesn't move a call to %s", async (_what, asked, model) => {
    const key = await guarded('fallback_model', { model });
    await post(key);
    await post(key, asked);
    expect(JSON.parse(suite.upstream.seen.at(-1)!.body)).toMatchObject(asked);
  });

  test('fallback_model: a model that has left the plan stops the calls instead of letting them through', async () => {
    const key = await guarded('fallback_model', { model: 'gateway/deepseek-reason' }, { plan: 'pro' });
    expect((await post(key, { model: 'gateway/qwen-pro' })).status).toBe(200);
    const refused = await post(key, { model: 'gateway/qwen-pro' });
    expect(await errorOf(refused)).toMatchObject({
      code: 'key_guard_reached',
      message: expect.stringContaining('gateway/deepseek-reason'),
    });
  });

  test('stops the calls of another edge too', async () => {
    const other = await startTestEdge(suite.db, {
      upstreamUrl: suite.upstream.url,
      clock: { now: () => now },
    });
    try {
      const key = await guarded('disable', { dollars: 3 * COST });
      for (const edge of [suite.edge, other, suite.edge]) {
        expect((await postChat(edge.url, key.key)).status).toBe(200);
        await edge.settled();
      }
      await until(async () => (await postChat(other.url, key.key)).status === 402);
      expect(await actedOf(key)).toBe(utcDay(now).slice(0, 7));
    } finally {
      await other.close();
    }
  });
});
