import { dataOf, operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { checkInvariants } from '../support/invariants.js';
import { usePlatform } from '../support/platform-suite.js';

describe('a credit adjustment', () => {
  const suite = usePlatform();
  let admin: { token: string; user: { id: string; email: string } };
  beforeAll(async () => {
    admin = await signUpAdmin(suite);
  });

  const adjust = <T = Record<string, string>>(
    id: string,
    body: unknown,
    token = admin.token,
    headers: Record<string, string> = {},
  ) => call<T>(suite.url, 'POST', `/api/admin/users/${id}/credit-adjustments`, { token, body, headers });
  const ledgerOf = async (token: string) =>
    (await call<Record<string, unknown>[]>(suite.url, 'GET', '/api/billing/ledger', { token })).body;

  test('is a ledger entry with its reason, and changes the balance', async () => {
    const { user, token } = await signUp(suite.url);
    const answer = await adjust(user.id, { amount_usd: 2.5, reason: 'Outage of 3 May' });
    expect([answer.status, answer.body]).toEqual([
      201,
      { account_id: user.id, amount_usd: '2.500000', balance_usd: '3.500000' },
    ]);
    expect((await ledgerOf(token))[0]).toMatchObject({
      kind: 'adjustment',
      amount_usd: '2.500000',
      balance_after_usd: '3.500000',
      description: 'Outage of 3 May',
    });
    expect(await checkInvariants(suite.db.pool, { jobs: false })).toEqual([]);
  });

  test('may take credit away, even below zero', async () => {
    const { user } = await signUp(suite.url);
    expect((await adjust(user.id, { amount_usd: '-1.000000000001', reason: 'x' })).body).toMatchObject({
      amount_usd: '-1.000000000001',
      balance_usd: '-0.000000000001',
    });
  });

  test('is made once per idempotency key', async () => {
    const { user, token } = await signUp(suite.url);
    const body = { amount_usd: 1, reason: 'once', idempotency_key: 'ticket-7' };
    const answers = await Promise.all([adjust(user.id, body), adjust(user.id, body), adjust(user.id, body)]);
    expect(answers.map(({ body }) => body.balance_usd)).toEqual(['2.000000', '2.000000', '2.000000']);
    expect(await ledgerOf(token)).toHaveLength(2);
    const other = await adjust<ErrorAnswer>(user.id, { ...body, amount_usd: 2 });
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict']);
  });

  describe('with its key as a header', () => {
    const withHeader = <T = Record<string, string>>(id: string, key: string, body: object = {}) =>
      adjust<T>(id, { amount_usd: 1, reason: 'once', ...body }, admin.token, { 'idempotency-key': key });

    test('is made once, even if the field repeats it', async () => {
      const { user, token } = await signUp(suite.url);
      const answers = [
        await withHeader(user.id, 'ticket-8'),
        await withHeader(user.id, 'ticket-8'),
        await adjust(user.id, { amount_usd: 1, reason: 'once', idempotency_key: 'ticket-8' }),
        await withHeader(user.id, 'ticket-8', { idempotency_key: 'ticket-8' }),
      ];
      expect(answers.map(({ status, body }) => [status, body.balance_usd])).toEqual(
        answers.map(() => [201, '2.000000']),
      );
      expect(await ledgerOf(token)).toHaveLength(2);
    });

    test.each([
      ['another key in its field', 'ticket-9', { idempotency_key: 'ticket-10' }, 'idempotency_key'],
      ['an invalid key', 'with space', {}, 'idempotency-key'],
    ])('is refused with %s', async (_what, key, body, field) => {
      const { user, token } = await signUp(suite.url);
      const answer = await withHeader<ErrorAnswer>(user.id, key, body);
      expect([answer.status, answer.body.error.details?.map((detail) => detail.field)]).toEqual([
        422,
        [field],
      ]);
      expect(await ledgerOf(token)).toHaveLength(1);
    });
  });

  test('is in the audit log', async () => {
    const { user } = await signUp(suite.url);
    await adjust(user.id, { amount_usd: 1, reason: 'Goodwill' });
    const { body } = await call(suite.url, 'GET', `/api/admin/actions?subject_id=${user.id}`, {
      token: admin.token,
    });
    expect(body).toEqual([
      {
        id: expect.any(String),
        action: 'account.adjust_credit',
        source: 'session',
        actor_id: admin.user.id,
        actor_email: admin.user.email,
        subject_id: user.id,
        subject_email: user.email,
        changes: [{ field: 'balance_usd', before: '1.000000', after: '2.000000' }],
        reason: 'Goodwill',
        created_at: expect.stringMatching(/\.\d{6}Z$/),
      },
    ]);
  });

  test('works over GraphQL as well', async () => {
    const { user } = await signUp(suite.url);
    const data = await dataOf(
      suite.url,
      `mutation { adjustCredit(input: { id: "${user.id}", amountUsd: "-0.25", reason: "x" }) {
        adjustment { amountUsd balanceUsd } } }`,
      { token: admin.token },
    );
    expect(data).toEqual({
      adjustCredit: { adjustment: { amountUsd: '-0.250000', balanceUsd: '0.750000' } },
    });
  });

  test('is for administrators only', async () => {
    const { user, token } = await signUp(suite.url);
    const refused = await adjust<ErrorAnswer>(user.id, { amount_usd: 100, reason: 'please' }, token);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    const overGraphql = await operate(
      suite.url,
      `mutation { adjustCredit(input: { id: "${user.id}", amountUsd: "9", reason: "x" }) { adjustment { amountUsd } } }`,
      { token },
    );
    expect(overGraphql.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['forbidden']);
    expect(await ledgerOf(token)).toHaveLength(1);
  });

  test.each([
    ['amount_usd', { amount_usd: 0 }],
    ['amount_usd', { amount_usd: -1_000_001 }],
    ['amount_usd', { amount_usd: '1e3' }],
    ['amount_usd', { amount_usd: '--1' }],
    ['amount_usd', { amount_usd: '0.0000000000001' }],
    ['reason', { reason: ' ' }],
    ['reason', { reason: undefined }],
    ['kind', { kind: 'topup' }],
  ])('is refused for its %s', async (field, change) => {
    const { user } = await signUp(suite.url);
    const answer = await adjust<ErrorAnswer>(user.id, { amount_usd: 1, reason: 'x', ...change });
    expect([answer.status, answer.body.error.details?.map((detail) => detail.field)]).toEqual([422, [field]]);
  });

  test.each(['nonsense', '01900000-0000-7000-8000-000000000000'])('finds no account %s', async (id) => {
    expect((await adjust(id, { amount_usd: 1, reason: 'x' })).status).toBe(404);
  });
});
