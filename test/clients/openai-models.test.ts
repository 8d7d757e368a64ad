import { until } from '../support/until.js';
import { useClients } from './support.js';

const suite = useClients();

describe('openai: models', () => {
  test('models.list pages through the models of the plan', async () => {
    // The edge asks the model proxy what is simulated, and again if that was not there yet.
    const isKnown = async () =>
      (await suite.openai().models.list()).data.every(({ owned_by }) => owned_by !== 'gateway');
    await until(isKnown, { what: 'the edge to know what is simulated', timeoutMs: 20_000 });
    const names: string[] = [];
    for await (const model of suite.openai().models.list()) {
      expect(model).toMatchObject({ object: 'model', created: expect.any(Number) });
      // Nobody is to take the simulator for a model.
      expect(model.owned_by).toContain('simulator');
      names.push(model.id);
    }
    expect(names.sort()).toEqual([
      'gateway/deepseek-code',
      'gateway/deepseek-reason',
      'gateway/embed',
      'gateway/fast',
      'gateway/qwen-fast',
      'gateway/qwen-pro',
    ]);
  });

  test('plan free lists its two', async () => {
    const { key } = await suite.product.signUp('free');
    const { data } = await suite.openai({ apiKey: key }).models.list();
    expect(data.map(({ id }) => id).sort()).toEqual(['gateway/embed', 'gateway/fast']);
  });

  test("listing is free and isn't usage", async () => {
    const before = await suite.balance();
    await suite.openai().models.list();
    expect(await suite.balance()).toBe(before);
    expect(await suite.usage()).toEqual([]);
  });
});
