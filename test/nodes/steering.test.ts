import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProxyTime } from '../../src/router/time.js';
import { routes } from '../proxy/routes.js';
import { ask, post } from '../proxy/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  DONE_EVENT,
  delta,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';

/** Longer than any test, so the proxy learns of changes through notifications alone. */
const NEVER_MS = 600_000;

/** The model proxy between two scripted nodes, by the registry. */
describe('routing by the node registry', () => {
  let db: TestDatabase;
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    [first, second] = [await startScriptedUpstream(), await startScriptedUpstream()];
  });
  afterEach(async () => {
    await proxy.close();
    await Promise.all([first.close(), second.close()].map((closing) => closing.catch(() => undefined)));
    await db.pool.query('delete from gpu_nodes; delete from proxy_reports');
  });
  afterAll(() => db.close());

  const start = async (
    urls = [first.url, second.url],
    settings: Record<string, unknown> = {},
    time?: ProxyTime,
    nodePollMs = NEVER_MS,
  ) => {
    const nodes = urls.map((url, index) => ({ model: 'gateway/fast', id: `n${index}`, url }));
    const standIn = { model: 'gateway/other', id: 'other', url: second.url };
    const config = routes([...nodes, standIn], settings);
    proxy = await startTestProxy(db, { config, time, followNodes: true, nodePollMs });
  };
  const register = async (url: string, more: { status?: string; health?: string; heard?: boolean } = {}) => {
    const { status = 'active', health = 'healthy', heard = true } = more;
    const id = randomUUID();
    await db.pool.query(
      `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key, status,
         health_status, last_heartbeat_at, created_at, updated_at)
       values ($1, 'n', 'p', 'r', 'g', 1, $2, $3, $4, $5, $6, now(), now())`,
      [id, url, new URL(url).host, status, health, heard ? new Date() : null],
    );
    await notify();
    return id;
  };
  const notify = () => db.pool.query(`select pg_notify('gateway_nodes', '')`);
  const set = async (id: string, change: Record<string, string>) => {
    for (const [column, value] of Object.entries(change)) {
      await db.pool.query(
        `update gpu_nodes set ${column} = $1, revision = revision + 1, drained_at = null where id = $2`,
        [value, id],
      );
    }
    await notify();
  };
  const call = (body: unknown = ask('x')) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, body);
  const info = async () => {
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/model/info`, { headers })).json()) as {
      data: { takes_calls: string; model_info: { id: string } }[];
    };
    return Object.fromEntries(data.map(({ takes_calls, model_info }) => [model_info.id, takes_calls]));
  };
  const becomes = (id: string, takes: string) =>
    until(async () => (await info())[id] === takes, {
      timeoutMs: 10_000,
      what: `${id} to take calls: ${takes}`,
    });
  const callsOf = (node: ScriptedUpstream) => node.seen.filter(({ body }) => !body.includes('"ping"')).length;
  const spread = async (calls: number) => {
    const before = [callsOf(first), callsOf(second)];
    for (let i = 0; i < calls; i++) expect((await call()).status).toBe(200);
    return [callsOf(first) - before[0]!, callsOf(second) - before[1]!];
  };
  const drained = async (id: string) =>
    (await db.pool.query<{ at: Date | null }>('select drained_at as at from gpu_nodes where id = $1', [id]))
      .rows[0]!.at;

  test.each(['draining', 'offline'])(
    'sends no call to a node that is %s, without a restart',
    async (status) => {
      await start();
      const id = await register(first.url);
      await set(id, { status });
      await becomes('n0', 'no');
      expect(await spread(20)).toEqual([0, 20]);
    },
  );

  test('notices a change without a notification', async () => {
    await start(undefined, undefined, undefined, 100);
    const id = await register(first.url);
    await db.pool.query(`update gpu_nodes set status = 'draining', revision = revision + 1 where id = $1`, [
      id,
    ]);
    await becomes('n0', 'no');
  });

  test('recognises an address in another spelling, and follows an administrator before the first heartbeat', async () => {
    await start();
    await register(`${first.url.toUpperCase().replace('HTTP', 'http')}/some/path`, {
      status: 'draining',
      heard: false,
    });
    await becomes('n0', 'no');
    expect(await spread(10)).toEqual([0, 10]);
  });

  test('lets calls in flight finish, and shows when the last has ended', async () => {
    const id = await register(first.url);
    await start();
    let end!: () => void;
    first.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('a'));
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      response.end(delta('b') + DONE_EVENT);
    });
    const open = (async () => {
      for (;;) {
        const response = await call(ask('x', { stream: true }));
        if (callsOf(first) > 0) return response;
        await response.text();
      }
    })();
    const streaming = await open;
    await set(id, { status: 'draining' });
    await becomes('n0', 'no');
    const inFlight = async () =>
      (await db.pool.query(`select nodes->$1->>'in_flight' as calls from proxy_reports`, [id])).rows[0]
        ?.calls;
    await until(async () => (await inFlight()) === '1', { what: 'a report of the call' });
    expect(await drained(id)).toBeNull();
    const endedAt = Date.now();
    end();
    expect(await streaming.text()).toContain('data: [DONE]');
    await soonerThan(1_900, async () => (await drained(id)) !== null, 'the end of the drain');
    expect((await drained(id))!.getTime()).toBeGreaterThanOrEqual(endedAt - 1);
  });

  test('shows how many deployments are at a node, even after the file has changed', async () => {
    const [used, unused] = [await register(second.url), await register('http://10.9.8.7:8000')];
    await start(undefined, undefined, undefined, 100);
    const deployments = (id: string) =>
      until(
        async () =>
          (await db.pool.query(`select nodes->$1->>'deployments' as n from proxy_reports`, [id])).rows[0]?.n,
        { what: 'a report' },
      );
    expect([await deployments(used), await deployments(unused)]).toEqual(['2', '0']);
    proxy.reload(routes([{ model: 'gateway/fast', id: 'n0', url: 'http://10.9.8.7:8000/v1' }]));
    await until(async () => (await deployments(unused)) === '1', { what: 'the new file to count' });
    expect(await deployments(used)).toBe('0');
  });

  test('uses fallbacks while the only node of a model is drained, and returns 503 without one', async () => {
    await start([first.url], { fallbacks: [{ 'gateway/fast': ['gateway/other'] }] });
    const id = await register(first.url);
    await set(id, { status: 'draining' });
    await becomes('n0', 'no');
    expect(await (await call()).json()).toMatchObject({ model: 'gateway/other' });
    await proxy.close();
    await start([first.url]);
    await becomes('n0', 'no');
    const refused = await call();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
  });

  test('avoids an unhealthy node while another can serve, and uses it if none can', async () => {
    await start();
    const [a, b] = [await register(first.url), await register(second.url)];
    await set(a, { health_status: 'unhealthy' });
    await becomes('n0', 'if_no_other_can');
    // It was registered a moment ago, and first answers a small call of the proxy's own.
    await becomes('n1', 'yes');
    expect(await spread(20)).toEqual([0, 20]);
    await set(b, { status: 'offline' });
    await becomes('n1', 'no');
    expect(await spread(5)).toEqual([5, 0]);
  });

  test('ignores a node that has never sent a heartbeat', async () => {
    await start();
    const never = await register(first.url, { health: 'unhealthy', heard: false });
    const other = await register(second.url, { status: 'offline' });
    await becomes('n1', 'no');
    expect((await info()).n0).toBe('yes');
    await set(other, { status: 'active' });
    await set(never, { health_status: 'unhealthy' });
    await becomes('n1', 'yes');
    expect((await spread(40)).every((calls) => calls > 0)).toBe(true);
  });

  test('keeps nodes that a mass loss has made unhealthy', async () => {
    await start();
    const id = await register(first.url, { health: 'unhealthy' });
    await becomes('n0', 'if_no_other_can');
    await set(id, { kept_in_routing: 'true' });
    await becomes('n0', 'yes');
  });

  test('keeps a drain when the same address is registered again', async () => {
    await start();
    const id = await register(first.url);
    await set(id, { status: 'draining' });
    await becomes('n0', 'no');
    const again = await register(first.url);
    await until(
      async () => (await db.pool.query(`select from proxy_reports where nodes ? $1`, [again])).rowCount,
    );
    expect((await info()).n0).toBe('no');
    await db.pool.query('delete from gpu_nodes where id = $1', [id]);
    await notify();
    await becomes('n0', 'yes');
  });

  test('probes a node that comes back until it answers, before it counts', async () => {
    await start();
    const id = await register(first.url, { status: 'offline' });
    await becomes('n0', 'no');
    first.answer(raw(503, '{}'));
    await set(id, { status: 'active' });
    await until(() => first.seen.filter(({ body }) => body.includes('"ping"')).length >= 2, {
      what: 'two probes',
    });
    expect(await spread(10)).toEqual([0, 10]);
    first.answer(chat());
    await becomes('n0', 'yes');
    await until(async () => (await spread(10))[0]! > 0, { what: 'calls to the node that came back' });
    expect((await spread(40)).every((calls) => calls > 0)).toBe(true);
  });

  test('continues to probe when its node leaves the registry before it has answered', async () => {
    const pauses: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
    await start([first.url, second.url], {}, { now: () => performance.now(), pause });
    const id = await register(first.url, { status: 'offline' });
    await becomes('n0', 'no');
    first.answer(raw(503, '{}'));
    await set(id, { status: 'active' });
    await until(() => pauses.length === 1, { what: 'a probe that failed' });
    await set(id, { status: 'offline' });
    await becomes('n0', 'no');
    // It finds its node gone, and asks no more.
    pauses[0]!();
    first.answer(chat());
    await db.pool.query('delete from gpu_nodes where id = $1', [id]);
    await notify();
    await becomes('n0', 'yes');
  });

  describe('probes a deployment whose routing file is read again', () => {
    const pauses: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
    const file = () =>
      routes([first, second].map(({ url }, i) => ({ model: 'gateway/fast', id: `n${i}`, url })));
    const goOn = () => {
      for (const resume of pauses.splice(0)) resume();
    };
    const probesOf = (model: string) => first.seen.filter(({ body }) => body.includes(`"${model}"`)).length;
    beforeEach(async () => {
      pauses.length = 0;
      await register(first.url);
      await start([first.url, second.url], {}, { now: () => performance.now(), pause });
      first.answer(raw(404, '{}'));
      proxy.reload(file().replace('internal-n0', 'mistyped'));
      await until(() => pauses.length === 1, { what: 'a probe that failed' });
    });

    test("no longer, once the file doesn't contain it", async () => {
      const before = probesOf('mistyped');
      first.answer(chat());
      proxy.reload(file());
      await becomes('n0', 'yes');
      goOn();
      await until(async () => (await spread(10))[0]! > 0, { what: 'calls to the node' });
      expect([probesOf('mistyped'), pauses]).toEqual([before, []]);
    });

    test('no more often, if it is unchanged', async () => {
      for (let reloads = 1; reloads <= 3; reloads++) {
        proxy.reload(file().replace('internal-n0', 'mistyped'));
        await until(() => pauses.length === 1 + reloads, { what: 'a probe that failed' });
      }
      const before = probesOf('mistyped');
      goOn();
      await until(() => pauses.length > 0, { what: 'another probe that failed' });
      await spread(10);
      // It has served nothing yet, so that it is asked for both, a chat and an embedding.
      expect([probesOf('mistyped') - before, pauses.length]).toEqual([2, 1]);
    });
  });

  test('gives a recovered node one call at a time until it has answered one', async () => {
    await start();
    const id = await register(first.url, { health: 'unhealthy' });
    await becomes('n0', 'if_no_other_can');
    const waiting: (() => void)[] = [];
    first.answer(async (request, response) => {
      if (!request.body.includes('"ping"')) await new Promise<void>((resolve) => waiting.push(resolve));
      chat()(request, response);
    });
    await set(id, { health_status: 'healthy' });
    await becomes('n0', 'yes');
    const calls = Array.from({ length: 30 }, () => call());
    await until(() => callsOf(first) + callsOf(second) === 30, { what: 'all calls' });
    expect(callsOf(first)).toBeLessThanOrEqual(1);
    first.answer(chat());
    for (const release of waiting) release();
    for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
    expect((await spread(40))[0]).toBeGreaterThan(0);
  });

  test('loses no request in a drain under load', async () => {
    await start();
    const id = await register(first.url);
    const answer = async (
      request: Parameters<ReturnType<typeof chat>>[0],
      response: Parameters<ReturnType<typeof chat>>[1],
    ) => {
      await delay(5);
      chat()(request, response);
    };
    first.answer(answer);
    second.answer(answer);
    let going = true;
    const statuses: number[] = [];
    const callers = Array.from({ length: 8 }, async () => {
      while (going) {
        const response = await call();
        await response.text();
        statuses.push(response.status);
      }
    });
    await until(() => callsOf(first) > 20);
    await set(id, { status: 'draining' });
    await until(() => drained(id), { what: 'the end of the drain' });
    const after = callsOf(first);
    const total = statuses.length;
    await until(() => statuses.length > total + 50);
    going = false;
    await Promise.all(callers);
    expect(callsOf(first)).toBe(after);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(first.seen.filter(({ aborted }) => aborted)).toEqual([]);
  });

  test('loses no request when a node dies under load, and stops calling it', async () => {
    await start();
    await register(first.url);
    await register(second.url);
    let going = true;
    const statuses: number[] = [];
    const callers = Array.from({ length: 8 }, async () => {
      while (going) {
        const response = await call();
        await response.text();
        statuses.push(response.status);
      }
    });
    await until(() => callsOf(first) > 20);
    await first.close();
    await until(async () => (await info()).n0 === 'no', { what: 'the dead node to be parked' });
    const total = statuses.length;
    await until(() => statuses.length > total + 50);
    going = false;
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('keeps the last known state while the database is unavailable', async () => {
    await start();
    const id = await register(first.url);
    await set(id, { status: 'draining' });
    await becomes('n0', 'no');
    await db.pool.query('alter table gpu_nodes rename to gpu_nodes_away');
    try {
      await notify();
      expect(await spread(10)).toEqual([0, 10]);
    } finally {
      await db.pool.query('alter table gpu_nodes_away rename to gpu_nodes');
    }
  });
});
