import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatMoney, parseMoney } from '../../src/lib/money.js';
import { parseRouting, RoutingFileError, simulatorFault } from '../../src/router/config-file.js';
import { costPerToken } from '../../src/router/config-schema.js';
import type { Routing } from '../../src/router/routing.js';
import { createTestDatabase } from '../support/database.js';

const SIMULATOR = { SIMULATOR_API_BASE: 'http://127.0.0.1:9/v1' };
const defaultFile = () => readFileSync(resolve('proxy.config.yaml'), 'utf8');

const valid = `model_list:
  - model_name: gateway/fast
    litellm_params:
      model: openai/gemma-3-4b
      api_base: http://10.0.0.5:8000/v1/
      api_key: os.environ/NODE_KEY
      input_cost_per_token: 1e-07
      output_cost_per_token: 0.0000003
      timeout: 30
      stream_timeout: 2.5
      rpm: 100
    model_info: { id: fast-node-1, mode: chat }
litellm_settings: { drop_params: true, langfuse: os.environ/NOT_SET }
general_settings: { master_key: os.environ/UPSTREAM_MASTER_KEY }
`;

function faultsOf(text: string, environment: Record<string, string> = { NODE_KEY: 'k' }): string[] {
  try {
    parseRouting(text, 'routing.yaml', environment);
  } catch (error) {
    if (error instanceof RoutingFileError) return error.lines;
    throw error;
  }
  return [];
}

/** Its deployments, with what is kept from logs. */
const shown = ({ deployments }: Routing) =>
  deployments.map(({ node, ...rest }) => ({ ...rest, ...node.read() }));

describe('the routing file', () => {
  test("is read in LiteLLM's format, including keys that only LiteLLM knows", () => {
    const routing = parseRouting(valid, 'routing.yaml', { NODE_KEY: 'node-secret' });
    expect(shown(routing)).toEqual([
      {
        id: 'fast-node-1',
        headerName: 'fast-node-1',
        storableName: 'fast-node-1',
        group: 'gateway/fast',
        upstreamModel: 'gemma-3-4b',
        apiBase: 'http://10.0.0.5:8000/v1',
        apiKey: 'node-secret',
        headers: { authorization: 'Bearer node-secret' },
        query: '',
        inputCost: 100_000n,
        outputCost: 300_000n,
        timeoutMs: 30_000,
        idleMs: 2_500,
        weight: 100,
        limits: { callsPerMinute: 100, tokensPerMinute: undefined, parallel: undefined },
        maxTokensField: 'both',
        simulated: false,
      },
    ]);
    expect(routing.masterKey).toBeUndefined();
    expect(routing.settings).toMatchObject({ numRetries: 2, retryAfterMs: 5_000, allowedFails: 3 });
    expect(routing.settings.cooldownMs).toBe(60_000);
    const withKey = parseRouting(valid, 'r', { NODE_KEY: 'k', UPSTREAM_MASTER_KEY: 'sk-m' });
    expect(withKey.masterKey?.read()).toBe('sk-m');
  });

  test('names the settings that have no effect here, without their values', () => {
    const more = valid
      .replace('      rpm: 100\n', '      rpm: 100\n      drop_params: true\n      order: 1\n')
      .replace('    model_info:', '    tpm: 7\n    model_info:');
    const text = `${more}router_settings: { redis_host: secret-host, num_retries: 1 }\nx-mine: 1\nguardrails: [{ a: 1 }]\n`;
    const { ignored } = parseRouting(text, 'r', { NODE_KEY: 'k' });
    expect(ignored).toEqual([
      'model_list.tpm',
      'litellm_params.drop_params',
      'litellm_params.order',
      'router_settings.redis_host',
      'litellm_settings.drop_params',
      'litellm_settings.langfuse',
      'guardrails',
    ]);
    expect(parseRouting(defaultFile(), 'r', SIMULATOR).ignored).toEqual([]);
  });

  test.each([
    ['extra_headers: { Content-Length: "7" }', /extra_headers\..*is a header that the router sets/],
    ['extra_headers: { "a b": "7" }', /extra_headers\..*must be the name of a header/],
    ['extra_headers: { a: "7\\n8" }', /extra_headers\.a: must be one line/],
    ['api_version: "7&x=1"', /api_version: must be a version/],
    ['rpm: 0', /rpm: /],
    ['max_parallel_requests: 1.5', /max_parallel_requests: /],
    ['model: azure/gpt', /api_base: needs an api_version, or must end with \/openai\/v1/],
  ])('%s is a fault', (line, fault) => {
    const text = line.startsWith('model:')
      ? valid.replace('model: openai/gemma-3-4b', line)
      : valid.replace('rpm: 100', line);
    expect(faultsOf(text)).toEqual([expect.stringMatching(fault)]);
  });

  test('is read with its merge keys: a map counts before what it merges, and of a list the first', () => {
    const text = `x-node: &node
  model: openai/gemma-3-4b
  api_base: os.environ/SIMULATOR_API_BASE
  input_cost_per_token: 1e-07
  output_cost_per_token: 0.0000003
x-key: &key { api_key: os.environ/NODE_KEY, timeout: 7 }
x-slow: &slow { <<: *key, timeout: 30, weight: 2 }
model_list:
  - model_name: a
    litellm_params:
      <<: *node
      api_base: http://10.0.0.5:8000/v1
    model_info: { id: one, "<<": a name }
  - model_name: a
    litellm_params: { weight: 3, <<: [*slow, *key, *node] }
    model_info: { id: two }
`;
    const environment = { ...SIMULATOR, NODE_KEY: 'k' };
    const [one, two] = shown(parseRouting(text, 'routing.yaml', environment));
    expect(one).toMatchObject({
      upstreamModel: 'gemma-3-4b',
      apiBase: 'http://10.0.0.5:8000/v1',
      inputCost: 100_000n,
      apiKey: undefined,
      simulated: false,
    });
    expect(two).toMatchObject({
      apiBase: SIMULATOR.SIMULATOR_API_BASE,
      apiKey: 'k',
      timeoutMs: 30_000,
      weight: 3,
      simulated: true,
    });
    // What a map says itself spares the variable of what it merges.
    expect(faultsOf(text, { SIMULATOR_API_BASE: 'http://127.0.0.1:9/v1' })).toEqual([
      'routing.yaml:15: model_list[1].litellm_params.api_key: the environment variable NODE_KEY is not set',
    ]);
  });

  test('in the repository has the models, prices and fallbacks of the catalogue', async () => {
    const routing = parseRouting(defaultFile(), 'proxy.config.yaml', SIMULATOR);
    const db = await createTestDatabase();
    const rows = await db.pool.query(
      `select public_name, upstream_model, input_price_per_million_usd::text as input,
        output_price_per_million_usd::text as output from models order by position`,
    );
    await db.close();
    const perMillion = (cost: bigint) => formatMoney(cost * 1_000_000n);
    expect(
      routing.deployments.map((one) => [
        one.group,
        one.node.read().upstreamModel,
        perMillion(one.inputCost),
        perMillion(one.outputCost),
      ]),
    ).toEqual(
      rows.rows.map((row) => [
        row.public_name,
        row.upstream_model,
        formatMoney(parseMoney(row.input)),
        formatMoney(parseMoney(row.output)),
      ]),
    );
    expect(Object.fromEntries(routing.settings.fallbacks)).toEqual({
      'gateway/qwen-pro': ['gateway/qwen-fast'],
      'gateway/deepseek-code': ['gateway/qwen-pro'],
      'gateway/deepseek-reason': ['gateway/qwen-pro'],
      'gateway/fast': ['gateway/qwen-fast'],
    });
  });

  test('that points at the simulator is accepted in production only if that is allowed', () => {
    const routing = parseRouting(defaultFile(), 'proxy.config.yaml', SIMULATOR);
    expect(simulatorFault(routing, { production: true, allowSimulator: false })).toContain('ALLOW_SIMULATOR');
    expect(simulatorFault(routing, { production: true, allowSimulator: true })).toBeUndefined();
    expect(simulatorFault(routing, { production: false, allowSimulator: false })).toBeUndefined();
    const real = parseRouting(valid, 'r', { NODE_KEY: 'k' });
    expect(simulatorFault(real, { production: true, allowSimulator: false })).toBeUndefined();
  });

  function isRefused(text: string, expected: string, environment?: Record<string, string>): void {
    const faults = faultsOf(text, environment);
    expect(faults).toHaveLength(1);
    expect(faults[0]!.startsWith(expected)).toBe(true);
    expect(faults[0]).not.toContain('\n');
    expect(faults[0]).not.toMatch(/Invalid input|Too (big|small)|Unrecognized/);
  }

  const PARAMS = 'model_list[0].litellm_params';
  test.each([
    ['a price in words', '1e-07', 'cheap', `7: ${PARAMS}.input_cost_per_token: must be a number`],
    ['a negative price', '1e-07', '-1e-07', '7: '],
    ['a price too fine', '1e-07', '1e-13', '7: '],
    ['an address without scheme', 'http://10', '10', `5: ${PARAMS}.api_base: must be an http`],
    [
      'an address with a password',
      'http://10',
      'http://user:secret@10',
      `5: ${PARAMS}.api_base: must not have a user name, a password`,
    ],
    [
      'an address with a query',
      '8000/v1/',
      '8000/v1?version=2',
      `5: ${PARAMS}.api_base: must not have a user name, a password, a query`,
    ],
    [
      'a merge key that names no map',
      'rpm: 100',
      '<<: 100',
      `4: ${PARAMS}: << must name a map or a list of maps`,
    ],
    ['a negative weight', 'rpm: 100', 'weight: -1', `11: ${PARAMS}.weight: must be at least 0`],
    [
      'a weight in words',
      'rpm: 100',
      'weight: all',
      `11: ${PARAMS}.weight: must be of type number, not string`,
    ],
    [
      'a name of nothing',
      'model_name: gateway/fast',
      "model_name: ''",
      '2: model_list[0].model_name: must have at least 1 character',
    ],
    [
      'a time limit beyond a day',
      'timeout: 30',
      'timeout: 90000',
      `9: ${PARAMS}.timeout: must be at most 86400`,
    ],
    ['another provider', 'openai/', 'anthropic/', `4: ${PARAMS}.model: must be provider/model`],
    ['a missing id', 'id: fast-node-1,', '', '12: model_list[0].model_info.id: is required'],
  ])('is refused with the line of the fault: %s', (_what, part, other, expected) => {
    isRefused(valid.replace(part, other), `routing.yaml:${expected}`);
  });

  test.each([
    ['num_retries: 1.5', 'num_retries: must be a whole number'],
    ['fallbacks: [{ gateway/fast: [] }]', 'fallbacks[0].gateway/fast: must have at least 1 entry'],
    [
      'fallbacks: [{ gateway/fast: [gateway/none] }]',
      'fallbacks[0].gateway/fast: no deployment has the model_name gateway/none',
    ],
    ['routing_strategy: least-busy', 'routing_strategy: only simple-shuffle'],
  ])('is refused with the line of the fault: of the router, %s', (setting, expected) => {
    isRefused(`${valid}router_settings: { ${setting} }\n`, `routing.yaml:15: router_settings.${expected}`);
  });

  test.each([
    [
      'a reference that is not set',
      valid,
      {},
      `6: ${PARAMS}.api_key: the environment variable NODE_KEY is not set`,
    ],
    [
      'a key that no header can carry',
      valid,
      { NODE_KEY: 'k\r\nx-injected: 1' },
      `6: ${PARAMS}.api_key: must be one line`,
    ],
    ['no deployment', 'model_list: []', undefined, '1: model_list: must have a deployment'],
    ['an empty file', '', undefined, '1: model_list: must be a list'],
    [
      'an id used twice',
      valid.replace(/( {2}- model_name[\s\S]*?mode: chat \}\n)/, '$1$1'),
      undefined,
      '23: model_list[1].model_info.id: "fast-node-1" is the id of model_list[0]',
    ],
    ['broken YAML', 'model_list:\n  - a: [1\n', undefined, '3: '],
    ['a name given twice', 'model_list: []\nmodel_list: []\n', undefined, '2: '],
  ])('is refused with the line of the fault: %s', (_what, text, environment, expected) => {
    isRefused(text, `routing.yaml:${expected}`, environment);
  });

  test.each([
    ['0', 0n],
    ['0.0', 0n],
    ['5e-8', 50_000n],
    ['0.00000005', 50_000n],
    ['.0000001', 100_000n],
    ['1.5E-6', 1_500_000n],
    ['12e-1', 1_200_000_000_000n],
    ['2', 2_000_000_000_000n],
    ['2e1', 20_000_000_000_000n],
  ])('keeps a price exact: %s', (text, expected) => {
    expect(costPerToken(text)).toBe(expected);
  });
});
