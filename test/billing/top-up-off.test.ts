import { randomBytes } from 'node:crypto';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { TEST_SECRETS } from '../support/secrets.js';

interface GraphqlAnswer {
  data: unknown;
  errors?: { extensions: { code: string } }[];
}

const CONFIG_QUERY = '{ billingConfig { provider amountsUsd autoTopup } }';
const AMOUNTS = [10, 25, 50, 100, 500];

describe('top-ups in production', () => {
  const production = Object.fromEntries(
    Object.keys(TEST_SECRETS).map((name) => [name, randomBytes(48).toString('base64')]),
  );
  const suite = usePlatform({
    own: true,
    env: { NODE_ENV: 'production', PASSWORD_HASH_PROFILE: 'owasp', ...production },
  });
  let token: string;
  beforeAll(async () => {
    ({ token } = await signUp(suite.url));
  });
  const balance = async () =>
    (await call<{ balance_usd: string }>(suite.url, 'GET', '/api/billing/balance', { token })).body
      .balance_usd;

  test('are refused over REST and GraphQL unless TOPUP is mock, and add nothing', async () => {
    const rest = await call<ErrorAnswer>(suite.url, 'POST', '/api/billing/topup', {
      token,
      body: { amount_usd: 500 },
    });
    expect([rest.status, rest.body.error.code]).toEqual([403, 'topup_disabled']);
    const graphql = await call<GraphqlAnswer>(suite.url, 'POST', '/graphql', {
      token,
      body: { query: 'mutation { topUp(input: { amountUsd: 500 }) { balanceUsd } }' },
    });
    expect(graphql.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['topup_disabled']);
    expect(await balance()).toBe('1.000000');
  });

  test('are named as off before anybody logs in', async () => {
    const rest = await call(suite.url, 'GET', '/api/billing/config');
    expect(rest.body).toEqual({ provider: 'off', amounts_usd: AMOUNTS, auto_topup: false });
    const graphql = await call<GraphqlAnswer>(suite.url, 'POST', '/graphql', {
      body: { query: CONFIG_QUERY },
    });
    expect(graphql.body.data).toEqual({
      billingConfig: { provider: 'OFF', amountsUsd: AMOUNTS, autoTopup: false },
    });
    const pricing = await (await fetch(`${suite.url}/pricing`)).text();
    expect(pricing).toContain('To add credit, ask the administrator of this installation.');
    expect(pricing).not.toContain('mock');
  });
});

describe('top-ups outside production', () => {
  const suite = usePlatform();

  test('are a mock, and clients see that', async () => {
    const { body } = await call(suite.url, 'GET', '/api/billing/config');
    expect(body).toEqual({ provider: 'mock', amounts_usd: AMOUNTS, auto_topup: false });
  });
});
