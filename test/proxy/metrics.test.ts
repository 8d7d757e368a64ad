import { createRegistry } from '../../src/lib/metrics.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { ask, post } from './support.js';

describe('metrics of the model proxy', () => {
  const registry = createRegistry('proxy');
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db, { registry });
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

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
});
