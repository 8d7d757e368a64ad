import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createEnvelope } from '../../src/lib/crypto.js';
import { newId } from '../../src/lib/ids.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, PASSWORD, sessionCookie, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

describe('DELETE /api/auth/me', () => {
  const removed: string[] = [];
  let proxyFails = false;
  const suite = usePlatform({
    // It takes the role from everybody.
    own: true,
    virtualKeys: {
      generate: () => Promise.reject(new Error('not used')),
      async remove(keys) {
        if (proxyFails) throw new Error('the model proxy is away');
        removed.push(...keys);
      },
    },
  });

  const erase = (token: string, password = PASSWORD) =>
    call<ErrorAnswer>(suite.url, 'DELETE', '/api/auth/me', { token, body: { password } });

  const addKey = async (accountId: string, virtualKey: string): Promise<string> => {
    const id = newId();
    const envelope = createEnvelope('virtual-key', suite.platform.config.encryptionKey);
    await suite.db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, virtual_key_sealed, created_at)
       values ($1, $2, 'k', 'sk-pr-abcd', 'wxyz', $3, $4, now())`,
      [id, accountId, randomBytes(32), envelope.seal(virtualKey, `api_key:${id}:virtual_key`)],
    );
    return id;
  };

  test('ends the session and clears the cookie', async () => {
    const { token } = await signUp(suite.url);
    const answer = await erase(token);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(sessionCookie(answer)!.value).toBe('');
    expect((await call(suite.url, 'GET', '/api/auth/me', { token })).status).toBe(401);
  });

  test('erases personal data and keeps the ledger', async () => {
    const { token, user } = await signUp(suite.url, { email: 'erase@example.com', name: 'Erasmus' });
    await erase(token);
    const account = await suite.db.pool.query(
      `select email, email_key, name, password_hash, data_key_sealed, virtual_key_sealed, status,
         deleted_at is not null as deleted from accounts where id = $1`,
      [user.id],
    );
    expect(account.rows).toEqual([
      {
        email: null,
        email_key: null,
        name: '',
        password_hash: null,
        data_key_sealed: null,
        virtual_key_sealed: null,
        status: 'disabled',
        deleted: true,
      },
    ]);
    const ledger = await suite.db.pool.query('select 1 from ledger_entries where account_id = $1', [user.id]);
    expect(ledger.rowCount).toBe(1);
  });

  test('removes the keys and their virtual keys, and notifies the edges', async () => {
    const { token, user } = await signUp(suite.url);
    const key = await addKey(user.id, 'virtual-key-1');
    const heard: string[] = [];
    const listener = new pg.Client({ connectionString: suite.db.url });
    await listener.connect();
    try {
      listener.on('notification', (message) => heard.push(message.payload ?? ''));
      await listener.query('listen gateway_invalidate');
      await erase(token);
      await until(() => heard.length >= 2, { what: 'two notifications' });
      expect(heard.sort()).toEqual([`account:${user.id}`, `key:${key}:${user.id}`]);
    } finally {
      await listener.end();
    }
    expect(
      (await suite.db.pool.query('select 1 from api_keys where account_id = $1', [user.id])).rowCount,
    ).toBe(0);
    expect(removed).toEqual(['virtual-key-1']);
  });

  test("an unavailable model proxy doesn't prevent the deletion", async () => {
    const { token, user } = await signUp(suite.url);
    await addKey(user.id, 'virtual-key-2');
    proxyFails = true;
    expect((await erase(token)).status).toBe(204);
    proxyFails = false;
    expect(
      (await suite.db.pool.query('select 1 from api_keys where account_id = $1', [user.id])).rowCount,
    ).toBe(0);
  });

  test('refuses a wrong password and changes nothing', async () => {
    const { token } = await signUp(suite.url);
    const answer = await erase(token, 'a wrong password');
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_credentials']);
    expect((await call(suite.url, 'GET', '/api/auth/me', { token })).status).toBe(200);
  });

  test('lets the address sign up again, without a second starter credit', async () => {
    const first = await signUp(suite.url, { email: 'again@example.com' });
    await erase(first.token);
    const second = await signUp(suite.url, { email: 'again@example.com' });
    expect(second.user.id).not.toBe(first.user.id);
    const me = await call<{ balance_usd: string }>(suite.url, 'GET', '/api/auth/me', {
      token: second.token,
    });
    expect(me.body.balance_usd).toBe('0.000000');
  });

  describe('of administrators', () => {
    const makeAdmin = async () => {
      const { token, user } = await signUpAdmin(suite);
      return { token, id: user.id };
    };
    beforeEach(() => suite.db.pool.query(`update accounts set role = 'user'`));

    test('the last active one is refused and stays unchanged', async () => {
      const { token } = await makeAdmin();
      const other = await makeAdmin();
      await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [other.id]);
      const answer = await erase(token);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
      expect(answer.body.error.message).toContain('last active administrator');
      expect(answer.body.error.details).toEqual([{ field: 'body', message: answer.body.error.message }]);
      expect((await call(suite.url, 'GET', '/api/admin/users', { token })).status).toBe(200);
    });

    test('of three who leave at once, one stays', async () => {
      const all = [await makeAdmin(), await makeAdmin(), await makeAdmin()];
      const answers = await Promise.all(all.map(({ token }) => erase(token)));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 422]);
    });

    test('two who demote each other at once leave one administrator', async () => {
      const [one, two] = [await makeAdmin(), await makeAdmin()];
      await Promise.all(
        [
          [one, two],
          [two, one],
        ].map(([by, whom]) =>
          call(suite.url, 'PATCH', `/api/admin/users/${whom!.id}`, {
            token: by!.token,
            body: { role: 'user' },
          }),
        ),
      );
      const { rows } = await suite.db.pool.query(
        `select count(*)::int as n from accounts where role = 'admin'`,
      );
      expect(rows).toEqual([{ n: 1 }]);
    });
  });
});
