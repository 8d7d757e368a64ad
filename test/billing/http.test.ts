import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { brokenLedgers } from './fixtures.js';

interface Balance {
  balance_usd: string;
}

describe('billing over HTTP', () => {
  const suite = usePlatform();
  let token: string;
  let accountId: string;
  beforeEach(async () => {
    const ada = await signUp(suite.url);
    token = ada.token;
    accountId = ada.user.id;
  });

  const get = <T = ErrorAnswer>(path: string) => call<T>(suite.url, 'GET', path, { token });
  const topUp = <T = ErrorAnswer>(body: unknown, key?: string) =>
    call<T>(suite.url, 'POST', '/api/billing/topup', {
      token,
      body,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });

  test('a new account has its dollar, a top-up adds to it, and both responses have the same format', async () => {
    expect((await get('/api/billing/balance')).body).toEqual({
      balance_usd: '1.000000',
      plan_name: 'free',
      monthly_quota_tokens: null,
    });
    const answer = await topUp({ amount_usd: 25 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ balance_usd: '26.000000', plan_name: 'free', monthly_quota_tokens: null });
    expect((await get('/api/billing/balance')).body).toEqual(answer.body);
  });

  test.each(['25', '25.000000'])('an amount may be a decimal in a string: %p', async (amount_usd) => {
    expect((await topUp<Balance>({ amount_usd })).body.balance_usd).toBe('26.000000');
  });

  test.each([
    ['amount_usd', { amount_usd: 11 }],
    ['amount_usd', { amount_usd: '10.01' }],
    ['amount_usd', { amount_usd: '1e1' }],
    ['amount_usd', { amount_usd: -10 }],
    ['amount_usd', {}],
    ['currency', { amount_usd: 10, currency: 'EUR' }],
  ])('422 names the field %s of %j', async (field, body) => {
    const answer = await topUp(body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
    expect((await get<Balance>('/api/billing/balance')).body.balance_usd).toBe('1.000000');
  });

  test.each(['two words', 'x'.repeat(256), ''])('422 for the Idempotency-Key %p', async (key) => {
    const answer = await topUp({ amount_usd: 10 }, key);
    expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([422, 'idempotency-key']);
  });

  test('20 concurrent repetitions of one key: one entry, one response; another amount is a 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => topUp<Balance>({ amount_usd: 50 }, 'retry-1')),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]!.body.balance_usd).toBe('51.000000');
    const conflict = await topUp({ amount_usd: 100 }, 'retry-1');
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'idempotency_conflict']);
    const ledger = await get<{ kind: string }[]>('/api/billing/ledger');
    expect(ledger.body.map((entry) => entry.kind)).toEqual(['topup', 'starter']);
    expect(await brokenLedgers(suite.db, accountId)).toEqual([]);
  });

  test('the ledger and the usage list page by limit and offset', async () => {
    await topUp({ amount_usd: 10 });
    const ledger = await get<{ kind: string }[]>('/api/billing/ledger?limit=1&offset=1');
    expect(ledger.body.map((entry) => entry.kind)).toEqual(['starter']);
    expect((await get('/api/usage?limit=7&offset=3')).body).toEqual({
      items: [],
      total: 0,
      limit: 7,
      offset: 3,
    });
    expect((await get('/api/usage')).body).toEqual({ items: [], total: 0, limit: 50, offset: 0 });
  });

  const paged = ['/api/billing/ledger', '/api/usage', '/api/keys', '/api/playground', '/api/refusals'];
  test.each(paged)('%s refuses other paging', async (path) => {
    const queries = [
      'limit=0',
      'limit=501',
      'limit=1.5',
      'limit=',
      'limit=0x5',
      'limit=1&limit=2',
      'limit=ten',
    ];
    for (const query of [
      ...queries,
      'offset=-1',
      'offset=',
      'offset=1e3',
      'offset=9'.padEnd(40, '9'),
      'page=2',
    ]) {
      const answer = await get(`${path}?${query}`);
      expect([query, answer.status, answer.body.error?.code]).toEqual([query, 422, 'validation_error']);
    }
  });

  test('plans and models are public and never name the upstream', async () => {
    const plans = await call<{ name: string }[]>(suite.url, 'GET', '/api/plans');
    expect(plans.status).toBe(200);
    expect(plans.body.map((plan) => plan.name)).toEqual(['free', 'starter', 'pro', 'developer', 'team']);
    expect(plans.body[1]).toEqual({
      name: 'starter',
      monthly_price_usd: '10.000000',
      included_credits_usd: '12.000000',
      allowed_models: ['gateway/fast', 'gateway/qwen-fast', 'gateway/embed'],
      requests_per_minute: 60,
    });
    const models = await call<unknown[]>(suite.url, 'GET', '/api/models');
    expect(models.body).toHaveLength(6);
    expect(models.body[2]).toEqual({
      model_public_name: 'gateway/qwen-pro',
      family: 'qwen',
      context_window: 32768,
      input_price_per_million_usd: '0.500000',
      output_price_per_million_usd: '1.500000',
      is_featured: true,
    });
  });

  test.each([
    ['GET', '/api/billing/balance'],
    ['POST', '/api/billing/topup'],
    ['GET', '/api/billing/ledger'],
    ['GET', '/api/usage'],
  ])('%s %s requires a session', async (method, path) => {
    const body = method === 'POST' ? { amount_usd: 10 } : undefined;
    const answer = await call<ErrorAnswer>(suite.url, method, path, { body });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
  });
});
