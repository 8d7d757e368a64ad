import { randomUUID } from 'node:crypto';
import { createEnvelope } from '../../src/lib/crypto.js';
import {
  call,
  type ErrorAnswer,
  PASSWORD,
  type SessionAnswer,
  sessionCookie,
  signUp,
} from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

describe('POST /api/auth/signup', () => {
  const suite = usePlatform();

  const newMail = () => `${randomUUID()}@example.com`;
  const post = <T = SessionAnswer>(body: unknown) => call<T>(suite.url, 'POST', '/api/auth/signup', { body });

  test('creates an account on the plan free and opens a session', async () => {
    const email = `Ada-${randomUUID()}@Example.com`;
    const answer = await post({ email, password: PASSWORD, name: ' Ada Lovelace ' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      token_type: 'bearer',
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email,
        name: 'Ada Lovelace',
        role: 'user',
        status: 'active',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        plan_id: 'free',
      },
    });
    const me = await call(suite.url, 'GET', '/api/auth/me', { token: answer.body.access_token });
    expect(me.status).toBe(200);
  });

  test('sets the session cookie for browsers only, not for scripts', async () => {
    const answer = await post({ email: newMail(), password: PASSWORD, name: 'Ada' });
    const cookie = sessionCookie(answer)!;
    expect(cookie.value).toBe(answer.body.access_token);
    expect(cookie.line).toMatch(/; HttpOnly/);
    expect(cookie.line).toMatch(/; SameSite=Lax/);
    expect(cookie.line).toMatch(/; Path=\//);
    expect(cookie.line).toMatch(/; Max-Age=3600/);
    expect(cookie.line).not.toMatch(/Secure|Domain/);
  });

  test('grants one dollar as the first ledger entry', async () => {
    const { user } = await signUp(suite.url);
    const account = await suite.db.pool.query(
      'select balance::text, ledger_seq::text from accounts where id = $1',
      [user.id],
    );
    expect(account.rows).toEqual([{ balance: '1.000000000000', ledger_seq: '1' }]);
    const ledger = await suite.db.pool.query(
      'select seq::text, kind, amount::text, balance_after::text from ledger_entries where account_id = $1',
      [user.id],
    );
    expect(ledger.rows).toEqual([
      { seq: '1', kind: 'starter', amount: '1.000000000000', balance_after: '1.000000000000' },
    ]);
  });

  test('grants it once per email address with plus-tags folded', async () => {
    const id = randomUUID();
    await signUp(suite.url, { email: `folded-${id}@example.com` });
    const second = await signUp(suite.url, { email: `Folded-${id}+again@example.com` });
    const me = await call<{ balance_usd: string }>(suite.url, 'GET', '/api/auth/me', {
      token: second.token,
    });
    expect(me.body.balance_usd).toBe('0.000000');
  });

  test('gives each account its own data key, sealed for it alone', async () => {
    const { user } = await signUp(suite.url);
    const { rows } = await suite.db.pool.query<{ data_key_sealed: string }>(
      'select data_key_sealed from accounts where id = $1',
      [user.id],
    );
    const envelope = createEnvelope('data-key', suite.platform.config.encryptionKey);
    expect(envelope.open(rows[0]!.data_key_sealed, `account:${user.id}:data_key`)).toHaveLength(32);
  });

  test('keeps no password, only its argon2id hash', async () => {
    const { user } = await signUp(suite.url);
    const { rows } = await suite.db.pool.query<{ row: string }>(
      'select to_jsonb(a)::text as row from accounts a where id = $1',
      [user.id],
    );
    expect(rows[0]!.row).toContain('$argon2id$v=19$');
    expect(rows[0]!.row).not.toContain(PASSWORD);
  });

  test('refuses an email address that is taken, ignoring case', async () => {
    const { user } = await signUp(suite.url);
    const answer = await post<ErrorAnswer>({
      email: user.email.toUpperCase(),
      password: PASSWORD,
      name: 'Eve',
    });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'email_taken']);
  });

  test('creates one account from many sign-ups at the same instant', async () => {
    const email = newMail();
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => post({ email, password: PASSWORD, name: 'Ada' })),
    );
    expect(tries.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  test.each([
    ['email', { email: 'no mail' }],
    ['email', { email: 'root@localhost' }],
    ['email', { email: 'ada@example.xn--' }],
    ['email', { email: 'a\u0000@example.com' }],
    ['password', { password: 'short12' }],
    ['password', { password: 'x'.repeat(129) }],
    ['password', { password: 'Password123' }],
    ['password', { password: 'butthead' }],
    ['name', { name: '   ' }],
    ['name', { name: 'nul\u0000' }],
    ['name', { name: 'half \ud800' }],
    ['role', { role: 'admin' }],
    ['balance', { balance: 1000 }],
    ['plan_id', { plan_id: 'team' }],
    ['name', { name: undefined }],
  ])('names the invalid field %s', async (field, change) => {
    const body = { email: 'bad@example.com', password: PASSWORD, name: 'Ada', ...change };
    const answer = await post<ErrorAnswer>(body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  test.each(["o'neil+tag", 'user!x', 'a&b=c', 'x/y', '%~`{|}^?#*$', '_'])(
    'accepts the email address %s@…',
    async (local) => {
      const email = `${local}@${randomUUID()}.example.com`;
      expect((await signUp(suite.url, { email })).user.email).toBe(email.toLowerCase());
    },
  );

  test('accepts an email address with an internationalised top-level domain', async () => {
    const email = `${randomUUID()}@example.xn--p1ai`;
    expect((await signUp(suite.url, { email })).user.email).toBe(email);
  });

  test.each(['exactly8', 'secret123', 'Password1!', 'ü'.repeat(128), '🔑'.repeat(8)])(
    'accepts the password %s',
    async (password) => {
      await expect(signUp(suite.url, { password })).resolves.toBeDefined();
    },
  );
});
