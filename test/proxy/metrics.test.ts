import { createRegistry } from '../../src/lib/metrics.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { DEAD_URL, routes } from './routes.js';
import { ask, post } from './support.js';

describe('metrics of the model proxy', () => {
  const registry = createRegistry('proxy');
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db, { registry, settings: { numRetries: 0 } });
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  const linesIn = async (from: typeof registry, name: string) =>
    (await from.metrics())
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => line.replace(',process="proxy"', ''))
      .sort();

  test('count calls by public model and outcome, and time them', async () => {
    const call = (text: string) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask(text));
    await call('[[sim ttft_ms=0]] x');
    await call('[[sim status=500]] x');
    await call('[[sim status=400]] x');
    const valuesOf = async (name: string, label: string) => {
      const all = await registry.getMetricsAsJSON();
      const values = all.find((metric) => metric.name === name)?.values ?? [];
      return values.map((one) => [(one.labels as Record<string, unknown>)[label], one.value]);
    };
    // A call is counted right after its last byte has left.
    const calls = await until(async () => {
      const found = await valuesOf('proxy_calls_total', 'outcome');
      return found.length === 3 ? found : undefined;
    });
    expect(Object.fromEntries(calls)).toEqual({ ok: 1, upstream_error: 1, upstream_400: 1 });
    expect(await valuesOf('proxy_calls_total', 'model')).toEqual(Array(3).fill(['gateway/fast', 1]));
    expect(await valuesOf('proxy_call_seconds', 'model')).toContainEqual(['gateway/fast', 3]);
  });

  test('count attempts, cooling deployments and fallbacks', async () => {
    const own = createRegistry('proxy');
    const config = routes(
      [
        { model: 'gateway/pro', id: 'dead', url: DEAD_URL },
        { model: 'gateway/fast', id: 'node', url: proxy.simulatorUrl.replace(/\/v1$/, '') },
      ],
      { num_retries: 0, allowed_fails: 1, fallbacks: [{ 'gateway/pro': ['gateway/fast'] }] },
    );
    const routed = await startTestProxy(db, { registry: own, config });
    const linesOf = (name: string) => linesIn(own, name);
    try {
      for (let i = 0; i < 2; i++) {
        const body = ask('[[sim ttft_ms=0]] x', { model: 'gateway/pro' });
        expect((await post(`${routed.url}/v1/chat/completions`, routed.masterKey, body)).status).toBe(200);
      }
      await until(async () => (await linesOf('proxy_calls_total'))[0]?.endsWith(' 2'));
      expect(await linesOf('proxy_calls_total')).toEqual([
        'proxy_calls_total{model="gateway/pro",outcome="ok"} 2',
      ]);
      expect(await linesOf('proxy_attempts_total')).toEqual([
        'proxy_attempts_total{model="gateway/fast",deployment="node",outcome="ok"} 2',
        'proxy_attempts_total{model="gateway/pro",deployment="dead",outcome="connection"} 1',
      ]);
      expect(await linesOf('proxy_fallbacks_total')).toEqual([
        'proxy_fallbacks_total{model="gateway/pro",served="gateway/fast"} 2',
      ]);
      expect(await linesOf('proxy_parkings_total')).toEqual([
        'proxy_parkings_total{model="gateway/pro",deployment="dead"} 1',
      ]);
      expect(await linesOf('proxy_deployment_parked')).toEqual([
        'proxy_deployment_parked{model="gateway/fast",deployment="node"} 0',
        'proxy_deployment_parked{model="gateway/pro",deployment="dead"} 1',
      ]);
      routed.reload(routes([{ model: 'gateway/fast', id: 'node', url: DEAD_URL }]));
      expect(await linesOf('proxy_deployment_parked')).toEqual([
        'proxy_deployment_parked{model="gateway/fast",deployment="node"} 0',
      ]);
    } finally {
      await routed.close();
    }
  });

  test('show when no deployment of a model takes calls: one is cooling down, and the node of the other is drained', async () => {
    const own = createRegistry('proxy');
    const drained = await startScriptedUpstream();
    await db.pool.query(
      `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key, status,
         created_at, updated_at) values (gen_random_uuid(), 'n', 'p', 'r', 'g', 1, $1, $2, 'draining', now(), now())`,
      [drained.url, new URL(drained.url).host],
    );
    const config = routes(
      [
        { model: 'gateway/pro', id: 'dead', url: DEAD_URL },
        { model: 'gateway/pro', id: 'drained', url: drained.url },
      ],
      { num_retries: 0, allowed_fails: 1 },
    );
    const routed = await startTestProxy(db, { registry: own, config, followNodes: true });
    const call = async () =>
      (await post(`${routed.url}/v1/chat/completions`, routed.masterKey, ask('x', { model: 'gateway/pro' })))
        .status;
    try {
      expect(await linesIn(own, 'proxy_deployment_closed')).toEqual([
        'proxy_deployment_closed{model="gateway/pro",deployment="dead"} 0',
        'proxy_deployment_closed{model="gateway/pro",deployment="drained"} 1',
      ]);
      expect([await call(), await call()]).toEqual([502, 503]);
      expect(await linesIn(own, 'proxy_deployment_closed')).toEqual([
        'proxy_deployment_closed{model="gateway/pro",deployment="dead"} 1',
        'proxy_deployment_closed{model="gateway/pro",deployment="drained"} 1',
      ]);
    } finally {
      await routed.close();
      await drained.close();
    }
  });
});
