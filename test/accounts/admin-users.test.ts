import { contextOf } from '../billing/fixtures.js';
import { operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp, type UserFields } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';

interface UserAnswer extends UserFields {
  balance_usd: string;
}

describe('/api/admin/users', () => {
  const clock = testClock();
  // It lists and searches all accounts.
  const suite = usePlatform({ own: true, clock });
  let admin: { token: string; user: UserFields };
  beforeAll(async () => {
    admin = await signUpAdmin(suite, { email: 'admin@example.com', name: 'Root' });
  });

  const list = (query = '', token = admin.token) =>
    call<UserAnswer[]>(suite.url, 'GET', `/api/admin/users${query}`, { token });
  const patch = <T = UserAnswer>(id: string, body: unknown, token = admin.token) =>
    call<T>(suite.url, 'PATCH', `/api/admin/users/${id}`, { token, body });
  const me = async (token: string) => (await call(suite.url, 'GET', '/api/auth/me', { token })).status;

  describe('access', () => {
    test('is for administrators only', async () => {
      const { token, user } = await signUp(suite.url);
      for (const answer of [
        await call<ErrorAnswer>(suite.url, 'GET', '/api/admin/users', { token }),
        await patch<ErrorAnswer>(user.id, { role: 'admin' }, token),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
      }
      expect((await call(suite.url, 'GET', '/api/admin/users')).status).toBe(401);
    });
  });

  describe('GET', () => {
    test('lists accounts newest first, with balance and without secrets', async () => {
      clock.advance(1000);
      const older = await signUp(suite.url);
      clock.advance(1000);
      const newer = await signUp(suite.url);
      const answer = await list('?limit=2');
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual([
        { ...newer.user, balance_usd: '1.000000' },
        { ...older.user, balance_usd: '1.000000' },
      ]);
      const next = await list('?limit=1&offset=1');
      expect(next.body.map((user) => user.id)).toEqual([older.user.id]);
    });

    test('lists an account without an email address, over GraphQL as well', async () => {
      clock.advance(1000);
      const { user } = await signUp(suite.url);
      await suite.db.pool.query('update accounts set email = null, email_key = null where id = $1', [
        user.id,
      ]);
      const answer = await list('?limit=1');
      expect([answer.status, answer.body]).toEqual([200, [{ ...user, email: '', balance_usd: '1.000000' }]]);
      const found = await operate<{ users: { nodes: { id: string; email: string }[] } }>(
        suite.url,
        '{ users(first: 1) { nodes { id email } } }',
        { token: admin.token },
      );
      expect(found.body).toEqual({ data: { users: { nodes: [{ id: user.id, email: '' }] } } });
    });

    test('searches email address and name without case and without wildcards', async () => {
      const byMail = await signUp(suite.url, { email: 'needle_1@haystack.example' });
      const byName = await signUp(suite.url, { name: '100% NEEDLE' });
      const ids = async (search: string) =>
        (await list(`?search=${encodeURIComponent(search)}`)).body.map((user) => user.id).sort();
      expect(await ids('Needle')).toEqual([byMail.user.id, byName.user.id].sort());
      expect(await ids('0% n')).toEqual([byName.user.id]);
      expect(await ids('needle_1')).toEqual([byMail.user.id]);
      expect(await ids('n%dle')).toEqual([]);
      expect(await ids('needle\\')).toEqual([]);
    });

    test('leaves deleted accounts out', async () => {
      const { token, user } = await signUp(suite.url, { name: 'Gone' });
      await call(suite.url, 'DELETE', '/api/auth/me', {
        token,
        body: { password: 'correct horse battery staple' },
      });
      expect((await list('?limit=500')).body.map((entry) => entry.id)).not.toContain(user.id);
    });

    test.each(['limit=0', 'limit=501', 'limit=x', 'offset=-1', 'offset=1.5', 'sort=name', 'search=%00'])(
      'refuses %s',
      async (query) => {
        const answer = await call<ErrorAnswer>(suite.url, 'GET', `/api/admin/users?${query}`, {
          token: admin.token,
        });
        expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
        expect(answer.body.error.details?.[0]?.field).toBe(query.split('=')[0]);
      },
    );
  });

  describe('PATCH', () => {
    test('moving to a paid plan grants its credits once per account, plan and month', async () => {
      const { user } = await signUp(suite.url);
      const balances: string[] = [];
      for (const plan of ['starter', 'starter', 'pro', 'starter', 'free', 'pro']) {
        const answer = await patch(user.id, { plan });
        expect([answer.status, answer.body.plan_id]).toEqual([200, plan]);
        balances.push(answer.body.balance_usd);
      }
      expect(balances).toEqual([
        '13.000000',
        '13.000000',
        '38.000000',
        '38.000000',
        '38.000000',
        '38.000000',
      ]);
      const { rows } = await suite.db.pool.query(
        `select seq::text, kind, idempotency_key from ledger_entries where account_id = $1 order by seq`,
        [user.id],
      );
      const month = new Date(clock.now()).toISOString().slice(0, 7);
      expect(rows).toEqual([
        { seq: '1', kind: 'starter', idempotency_key: null },
        { seq: '2', kind: 'grant', idempotency_key: `grant:${user.id}:starter:${month}` },
        { seq: '3', kind: 'grant', idempotency_key: `grant:${user.id}:pro:${month}` },
      ]);
    });

    test('a move with the ID in capitals is recognised by the monthly job', async () => {
      const { user } = await signUp(suite.url);
      const answer = await patch(user.id.toUpperCase(), { plan: 'team' });
      expect([answer.status, answer.body.balance_usd]).toEqual([200, '276.000000']);
      const { billing } = suite.platform.services;
      const context = contextOf(suite.db, null, () => clock.now());
      expect(await billing.grantMonthlyCredits(context)).toEqual({ examined: 0, granted: 0, locked: 0 });
      expect((await patch(user.id, { plan: 'team' })).body.balance_usd).toBe('276.000000');
    });

    test('the same move twice at the same instant grants once', async () => {
      const { user } = await signUp(suite.url);
      await Promise.all([1, 2, 3, 4].map(() => patch(user.id, { plan: 'team' })));
      const answer = await patch(user.id, { plan: 'team' });
      expect(answer.body.balance_usd).toBe('276.000000');
    });

    test('disabling ends sessions at once, and enabling does not bring them back', async () => {
      const { token, user } = await signUp(suite.url);
      expect((await patch(user.id, { status: 'disabled' })).body.status).toBe('disabled');
      expect(await me(token)).toBe(401);
      await patch(user.id, { status: 'active' });
      expect(await me(token)).toBe(401);
      const login = await call(suite.url, 'POST', '/api/auth/login', {
        body: { email: user.email, password: 'correct horse battery staple' },
      });
      expect(login.status).toBe(200);
    });

    test('changing the role ends sessions; the next one has the new role', async () => {
      const { token, user } = await signUp(suite.url);
      await patch(user.id, { role: 'admin' });
      expect(await me(token)).toBe(401);
      const login = await call<{ access_token: string }>(suite.url, 'POST', '/api/auth/login', {
        body: { email: user.email, password: 'correct horse battery staple' },
      });
      expect((await list('', login.body.access_token)).status).toBe(200);
      await patch(user.id, { role: 'user' });
      expect((await list('', login.body.access_token)).status).toBe(401);
    });

    test('setting the same values ends no session', async () => {
      const { token, user } = await signUp(suite.url);
      await patch(user.id, { role: 'user', status: 'active', plan: 'free' });
      expect(await me(token)).toBe(200);
    });

    test.each([
      ['status', { status: 'disabled' }],
      ['role', { role: 'user' }],
    ])("administrators can't remove their own %s", async (field, body) => {
      const answer = await patch<ErrorAnswer>(admin.user.id.toUpperCase(), body);
      expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([422, field]);
      expect(await me(admin.token)).toBe(200);
    });

    test.each([
      ['plan', { plan: 'gold' }],
      ['plan', { plan: 'nul\u0000' }],
      ['status', { status: 'deleted' }],
      ['role', { role: 'root' }],
      ['balance', { balance: '1000' }],
      ['email', { email: 'other@example.com' }],
    ])('refuses a bad %s and changes nothing', async (field, body) => {
      const { user } = await signUp(suite.url);
      const answer = await patch<ErrorAnswer>(user.id, { ...body });
      expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([422, field]);
      const after = await patch(user.id, { role: 'user' });
      expect(after.body).toEqual({ ...user, balance_usd: '1.000000' });
    });

    test('refuses an empty change', async () => {
      const { user } = await signUp(suite.url);
      const answer = await patch<ErrorAnswer>(user.id, {});
      expect(answer.status).toBe(422);
      expect(answer.body.error.details).toEqual([{ field: 'body', message: 'there is nothing to change' }]);
    });

    test.each(['no-uuid', '01900000-0000-7000-8000-000000000000', '%00'])(
      'answers 404 for %s',
      async (id) => {
        const answer = await patch<ErrorAnswer>(id, { plan: 'pro' });
        expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
      },
    );
  });
});
