import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommand } from '../support/command.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TEST_SECRETS } from '../support/secrets.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  ...Object.fromEntries(
    Object.keys(TEST_SECRETS).map((name) => [name, randomBytes(36).toString('base64url')]),
  ),
};

describe('npm run doctor', () => {
  let db: TestDatabase;
  let folder: string;
  const text = readFileSync(resolve('proxy.config.yaml'), 'utf8');

  beforeAll(async () => {
    db = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'gateway-doctor-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await db.close();
  });

  const doctor = (env: Record<string, string> = {}, ...args: string[]) =>
    runCommand('doctor', args, { DATA_DIR: folder, DATABASE_URL: db.url, ...env });
  const withFile = (changed: string, env: Record<string, string> = {}) => {
    const path = join(folder, 'routing.yaml');
    writeFileSync(path, changed);
    return doctor({ PROXY_CONFIG: path, ...env });
  };

  test('accepts the file of the repository, and lists what it has checked', async () => {
    const { code, output } = await doctor();
    expect(output).toContain('ok     $0.500000   $1.500000   gateway/qwen-pro  qwen-pro-simulator\n');
    expect(output).toContain('6 deployments checked, 0 faults\n');
    expect(code).toBe(0);
  });

  test('ends with 1 when a price differs, a model is unknown or one has no deployment', async () => {
    const { code, output } = await withFile(
      text
        .replace('input_cost_per_token: 0.0000005', 'input_cost_per_token: 5e-06')
        .replace('model_name: gateway/embed', 'model_name: gateway/other'),
    );
    expect(output).toContain('wrong  $5.000000   $1.500000   gateway/qwen-pro  qwen-pro-simulator\n');
    expect(output).toMatch(
      /fault {2}deployment qwen-pro-simulator: .*\$0\.500000 and \$1\.500000 in the model table/,
    );
    expect(output).toContain('fault  deployment embed-simulator: the model table has no gateway/other\n');
    expect(output).toContain('fault  gateway/embed: no deployment serves it\n');
    expect(code).toBe(1);
  });

  test.each([
    ['a faulty file', 'model_list: 7\n', {}, 'routing.yaml:1: model_list: must be a list'],
    [
      'a master key of its own',
      text.replace('os.environ/UPSTREAM_MASTER_KEY', 'sk-another-one-of-more-than-thirty-two'),
      {},
      'general_settings.master_key is not UPSTREAM_MASTER_KEY',
    ],
    ['the simulator in production', text, PRODUCTION, 'point at the simulator'],
  ])('ends with 1 on what would stop the proxy: %s', async (_what, changed, env, line) => {
    const { code, output } = await withFile(changed, env);
    expect(output).toContain(line);
    expect(code).toBe(1);
  });

  test("ends with 2 if it can't check", async () => {
    expect((await doctor({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })).code).toBe(2);
    const { code, output } = await doctor({ UPSTREAM_URL: 'http://127.0.0.1:1' });
    expect([code, output]).toEqual([2, "doctor: UPSTREAM_URL can't be reached (ECONNREFUSED)\n"]);
    expect((await doctor({ UPSTREAM_URL: 'http://127.0.0.1:1' }, '--file')).code).toBe(0);
  });

  test('checks the prices of another model proxy', async () => {
    const models = JSON.parse(
      `[["gateway/fast",1e-07,3e-07],["gateway/qwen-fast",1e-07,3e-07],["gateway/qwen-pro",5e-07,1.5e-06],
        ["gateway/deepseek-code",6e-07,1.8e-06],["gateway/deepseek-reason",3e-07,9e-07],["gateway/embed",5e-08,0]]`,
    ) as [string, number, number][];
    let shown = models;
    const server = createServer((request, response) => {
      const authorised = request.headers.authorization === `Bearer ${TEST_SECRETS.UPSTREAM_MASTER_KEY}`;
      const data = shown.map(([name, input, output]) => ({
        model_name: name,
        litellm_params: { model: 'openai/x', api_base: 'http://10.1.2.3/v1' },
        model_info: { id: `id of ${name}`, input_cost_per_token: input, output_cost_per_token: output },
      }));
      response.writeHead(authorised && request.url === '/v1/model/info' ? 200 : 401);
      response.end(JSON.stringify({ data }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const good = await doctor({ UPSTREAM_URL: url });
      expect([good.code, good.output.split('\n').at(-2)]).toEqual([0, '6 deployments checked, 0 faults']);
      shown = models.map(([name, input, output]) => [name, input, name === 'gateway/fast' ? 4e-7 : output]);
      const bad = await doctor({ UPSTREAM_URL: url });
      expect(bad.output).toContain(
        'fault  deployment id of gateway/fast: gateway/fast costs $0.100000 and $0.400000',
      );
      expect(bad.output).not.toContain('10.1.2.3');
      expect(bad.code).toBe(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
