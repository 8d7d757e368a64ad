import type { CatalogModel } from '../../../src/inference/catalog.js';
import { createMaxPriceLookup } from '../../../src/inference/limits/price-ceiling.js';
import { createModelRoutes } from '../../../src/inference/model-routes.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { startTestProxy, type TestProxy } from '../../support/proxy.js';
import { startScriptedUpstream } from '../../support/scripted-upstream.js';

const model = (
  publicName: string,
  priceIn: bigint,
  priceOut: bigint,
  contextWindow: number,
): CatalogModel => ({
  publicName,
  kind: 'chat',
  contextWindow,
  priceIn,
  priceOut,
});
const MODELS = [
  model('gateway/fast', 1n, 3n, 8_000),
  model('gateway/qwen-fast', 2n, 2n, 32_000),
  model('gateway/dearest', 9n, 9n, 16_000),
  { ...model('gateway/embed', 1n, 0n, 8_000), kind: 'embedding' as const },
];
const catalog = {
  get: (name: string) => MODELS.find(({ publicName }) => publicName === name),
  all: () => MODELS,
  names: new Set<string>(),
  reload: async () => undefined,
  stop: () => undefined,
};

describe('the highest price at which a call can be charged', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  test("the ceiling is the highest price of the model and the fallbacks that the product's own proxy reports", async () => {
    const routes = createModelRoutes(proxy.url, '', proxy.masterKey);
    await routes.ready;
    const ceilingOf = createMaxPriceLookup(catalog, routes);
    expect(routes.fallbacksOf('gateway/fast')).toEqual(['gateway/qwen-fast']);
    expect(ceilingOf(MODELS[0]!)).toMatchObject({ priceIn: 2n, priceOut: 3n, contextWindow: 32_000 });
    expect(ceilingOf(MODELS[1]!)).toMatchObject({ priceIn: 2n, priceOut: 2n, contextWindow: 32_000 });
    await routes.stop();
  });

  test('the ceiling is the highest price of all models of the kind if the proxy reports no fallbacks', async () => {
    const other = await startScriptedUpstream();
    const routes = createModelRoutes(other.url, '', 'key');
    await routes.ready;
    const ceilingOf = createMaxPriceLookup(catalog, routes);
    expect(ceilingOf(MODELS[0]!)).toMatchObject({ priceIn: 9n, priceOut: 9n, contextWindow: 32_000 });
    expect(ceilingOf(MODELS[3]!)).toMatchObject({ priceIn: 1n, priceOut: 0n, contextWindow: 8_000 });
    await routes.stop();
    await other.close();
  });

  test('fallbacks are reported only with the master key, and without an address', async () => {
    const ask = (key: string) =>
      fetch(`${proxy.url}/v1/model/info`, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask('sk-another')).status).toBe(401);
    const text = await (await ask(proxy.masterKey)).text();
    expect(JSON.parse(text).data).toContainEqual({
      model_name: 'gateway/fast',
      litellm_params: { model: expect.any(String), weight: 1 },
      model_info: {
        id: expect.any(String),
        input_cost_per_token: 1e-7,
        output_cost_per_token: 3e-7,
      },
      fallbacks: ['gateway/qwen-fast'],
      status: 'serving',
      consecutive_failures: 0,
      last_failure: null,
      parked_for_seconds: 0,
      takes_calls: 'yes',
      node_calls_in_flight: 0,
    });
    expect(text).not.toContain('127.0.0.1');
  });
});
