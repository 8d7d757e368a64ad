import type { PoolClient } from 'pg';
import { operate } from '../graphql/support.js';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { isBlocking } from '../support/blocked.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

const DELETE = `deleteAccount(input: { password: "${PASSWORD}" }) { success }`;

/** Nothing acts for an account that is deleted, however early it began. */
describe('an account that is deleted', () => {
  const suite = usePlatform();

  const ledgerOf = async (accountId: string): Promise<string[]> => {
    const { rows } = await suite.db.pool.query<{ kind: string }>(
      'select kind from ledger_entries where account_id = $1 order by seq',
      [accountId],
    );
    return rows.map(({ kind }) => kind);
  };
  const codes = (answer: Awaited<ReturnType<typeof operate>>): unknown[] =>
    answer.body.errors?.map(({ path, extensions }) => [path?.[0], extensions.code]) ?? [];

  test('can do nothing else in the same document', async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await operate(
      suite.url,
      `mutation { before: topUp(input: { amountUsd: 10 }) { balanceUsd } ${DELETE}
         after: topUp(input: { amountUsd: 25 }) { balanceUsd } }`,
      { headers: { cookie: `pr_session=${token}` } },
    );
    expect(codes(answer)).toEqual([['after', 'unauthorized']]);
    expect(await ledgerOf(user.id)).toEqual(['starter', 'topup']);
    expect((await call(suite.url, 'GET', '/api/auth/me', { token })).status).toBe(401);
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toEqual([expect.stringMatching(/^pr_session=;/)]);
  });

  test.each(['login', 'signup'])("isn't followed by a %s in the same document", async (mutation) => {
    const { token, user } = await signUp(suite.url);
    const name = mutation === 'signup' ? ', name: "Ada"' : '';
    const again = `${mutation}(input: { email: "${user.email}", password: "${PASSWORD}"${name} }) { accessToken }`;
    const answer = await operate(suite.url, `mutation { ${DELETE} ${again} }`, { token });
    expect(answer.status).toBe(400);
    // The document as a whole is refused, so the account is still there.
    expect((await call(suite.url, 'GET', '/api/auth/me', { token })).status).toBe(200);
  });

  test('a log-out also ends the rest of its document', async () => {
    const { token, user } = await signUp(suite.url);
    const answer = await operate(
      suite.url,
      'mutation { logout { success } topUp(input: { amountUsd: 10 }) { balanceUsd } }',
      { token },
    );
    expect(codes(answer)).toEqual([['topUp', 'unauthorized']]);
    expect(await ledgerOf(user.id)).toEqual(['starter']);
  });

  describe('while a request waits for the account', () => {
    let deleter: PoolClient;
    beforeEach(async () => {
      deleter = await suite.db.pool.connect();
    });
    afterEach(async () => {
      await deleter.query('rollback');
      deleter.release();
    });
    /** Begins what a deletion does last. */
    const beginDeletion = async (accountId: string): Promise<void> => {
      await deleter.query('begin');
      await deleter.query('select 1 from accounts where id = $1 for update', [accountId]);
      await deleter.query(
        `update accounts set status = 'disabled', password_hash = null, deleted_at = now() where id = $1`,
        [accountId],
      );
    };
    const waits = () => isBlocking(suite.db.pool, deleter);

    test.each([
      ['top-up', 'POST', '/api/billing/topup', { amount_usd: 10 }],
      ['log-in', 'POST', '/api/auth/login', { password: PASSWORD }],
    ])('fails for a deleted account: %s', async (_what, method, path, body) => {
      const { token, user } = await signUp(suite.url);
      await beginDeletion(user.id);
      const request = path.endsWith('login') ? { body: { email: user.email, ...body } } : { token, body };
      const answer = call<ErrorAnswer>(suite.url, method, path, request);
      await until(waits, { what: 'the request to wait for the deletion' });
      await deleter.query('commit');
      expect((await answer).status).toBe(401);
      expect(await ledgerOf(user.id)).toEqual(['starter']);
    });
  });
});
