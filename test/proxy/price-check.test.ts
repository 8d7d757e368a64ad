import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseRouting } from '../../src/router/config-file.js';
import { routingFaults } from '../../src/router/price-check.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('prices of the routing file and of the model table', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const text = readFileSync(resolve('proxy.config.yaml'), 'utf8');
  const deployments = (changed: string) =>
    parseRouting(changed, 'r', { SIMULATOR_API_BASE: 'http://127.0.0.1:9/v1' }).deployments;

  test('are the same in the repository', async () => {
    expect(await routingFaults(db.orm, deployments(text))).toEqual([]);
  });

  test('that differ, belong to no model or are missing are reported separately', async () => {
    const dearer = text.replace('input_cost_per_token: 0.0000005', 'input_cost_per_token: 0.00000050000001');
    expect(() => deployments(dearer)).toThrow('12 decimals');
    const changed = text
      .replace('input_cost_per_token: 0.0000005', 'input_cost_per_token: 0.000000500001')
      .replace('model_name: gateway/embed', 'model_name: gateway/other');
    expect(await routingFaults(db.orm, deployments(changed))).toEqual([
      expect.stringContaining('qwen-pro-simulator: gateway/qwen-pro costs $0.500001 and $1.500000'),
      'deployment embed-simulator: the model table has no gateway/other',
      'gateway/embed: no deployment serves it',
    ]);
  });
});
