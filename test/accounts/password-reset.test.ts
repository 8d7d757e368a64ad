import { sha256 } from '../../src/lib/crypto.js';
import { type Mailbox, startMailbox } from '../alerts/delivery/mailbox.js';
import { jobContext } from '../jobs/support.js';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

const MINUTE_MS = 60_000;
const NEW_PASSWORD = 'another long password 77';

describe('a forgotten password', () => {
  const clock = testClock();
  let mailbox: Mailbox;
  beforeAll(async () => {
    mailbox = await startMailbox();
  });
  afterAll(() => mailbox.close());
  const suite = usePlatform(() => ({
    clock,
    env: { SMTP_URL: mailbox.url, MAIL_FROM: 'gateway@example.com' },
  }));

  const forgot = (email: string, from = '198.51.100.20') =>
    call<ErrorAnswer>(suite.url, 'POST', '/api/auth/forgot-password', {
      body: { email },
      headers: { 'x-forwarded-for': from },
    });
  const reset = (token: string, password = NEW_PASSWORD) =>
    call<ErrorAnswer & { access_token: string }>(suite.url, 'POST', '/api/auth/reset-password', {
      body: { token, password },
    });
  const mailsTo = (email: string) => mailbox.mails.filter(({ to }) => to.includes(email));
  /** Requests a link and returns the token after its `#`. */
  const tokenFor = async (email: string): Promise<string> => {
    const before = mailsTo(email).length;
    expect((await forgot(email)).status).toBe(202);
    await until(() => mailsTo(email).length > before);
    const { text } = mailsTo(email).at(-1)!.parsed;
    return /http:\/\/localhost:\d+\/reset-password#([\w-]{43})\n/.exec(text!)![1]!;
  };
  const newAccount = async () => {
    const { body } = await signUpWith();
    return { email: body.user.email, token: body.access_token };
  };
  const signUpWith = () =>
    call<{ access_token: string; user: { email: string } }>(suite.url, 'POST', '/api/auth/signup', {
      body: { email: `reset-${counter++}@example.com`, password: PASSWORD, name: 'Ada' },
    });
  let counter = 0;

  test('is replaced once by a link in an email; all sessions end, and the new one works', async () => {
    const { email, token: session } = await newAccount();
    const token = await tokenFor(email);
    const answer = await reset(token);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toContain('pr_session=');
    const me = (bearer: string) => call(suite.url, 'GET', '/api/auth/me', { token: bearer });
    expect((await me(session)).status).toBe(401);
    expect((await me(answer.body.access_token)).status).toBe(200);
    const login = (password: string) =>
      call(suite.url, 'POST', '/api/auth/login', { body: { email, password } });
    expect([(await login(PASSWORD)).status, (await login(NEW_PASSWORD)).status]).toEqual([401, 200]);
    const again = await reset(token, 'a third long password 78');
    expect([again.status, again.body.error.details?.[0]?.field]).toEqual([422, 'token']);
  });

  test('used by two requests at once, a link works for one', async () => {
    const { email } = await newAccount();
    const token = await tokenFor(email);
    const answers = await Promise.all([reset(token), reset(token, 'yet another password 79')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  test('only the hash of a token is stored, and it is deleted by its use, a change of password, or its expiry', async () => {
    const { email, token: session } = await newAccount();
    const token = await tokenFor(email);
    const kept = async () => {
      const { rows } = await suite.db.pool.query<{ token_hash: string }>(
        `select token_hash from password_resets r join accounts a on a.id = r.account_id where a.email = $1`,
        [email],
      );
      return rows.map(({ token_hash }) => token_hash);
    };
    expect(await kept()).toEqual([sha256(token).toString('hex')]);
    const changed = await call(suite.url, 'POST', '/api/auth/password', {
      token: session,
      body: { current_password: PASSWORD, new_password: 'changed in the meantime 80' },
    });
    expect([changed.status, await kept()]).toEqual([204, []]);
    expect((await reset(token)).status).toBe(422);
    const late = await tokenFor(email);
    clock.advance(30 * MINUTE_MS);
    expect((await reset(late)).status).toBe(422);
  });

  test('gets the same answer whether an account has the address, before that is looked up', async () => {
    const { email } = await newAccount();
    const blocker = await suite.db.pool.connect();
    try {
      // Whoever looks at accounts waits: the answers come all the same.
      await blocker.query('begin');
      await blocker.query('lock table accounts in access exclusive mode');
      const answers = await Promise.all([forgot(email), forgot('nobody-at-all@example.com')]);
      const [known, unknown] = answers.map(({ status, text, headers }) => ({
        status,
        text,
        names: [...headers.keys()].sort(),
      }));
      expect(known).toEqual(unknown);
      expect(known).toMatchObject({ status: 202, text: '' });
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
    await until(() => mailsTo(email).length === 1);
    expect(mailsTo('nobody-at-all@example.com')).toEqual([]);
  });

  test('an address gets three emails while the first link is valid, whoever asks; a network may ask twenty times', async () => {
    const { email } = await newAccount();
    for (let sent = 1; sent <= 3; sent++) {
      expect((await forgot(email, `203.0.113.${sent}`)).status).toBe(202);
      await until(() => mailsTo(email).length === sent);
    }
    expect((await forgot(email.toUpperCase(), '203.0.114.9')).status).toBe(202);
    const answers: number[] = [];
    for (let i = 0; i < 21; i++)
      answers.push((await forgot(`stranger-${i}@example.com`, '192.0.2.77')).status);
    expect(answers).toEqual([...Array.from({ length: 20 }, () => 202), 429]);
    // Mails are sent in order: a later one is there, the fourth to this address is not.
    const { email: other } = await newAccount();
    await tokenFor(other);
    expect(mailsTo(email)).toHaveLength(3);
    // The first link has run out: there is another one that works.
    clock.advance(30 * MINUTE_MS);
    expect((await reset(await tokenFor(email))).status).toBe(200);
  });

  test('requests for other spellings of an address leave its owner the links', async () => {
    const { email } = await newAccount();
    const tagged = (tag: string) => email.replace('@', `+${tag}@`);
    const signedUp = await call(suite.url, 'POST', '/api/auth/signup', {
      body: { email: tagged('own'), password: PASSWORD, name: 'Ada' },
    });
    expect(signedUp.status).toBe(200);
    // Nobody has these spellings, and one account has the last.
    for (const tag of ['a', 'b', 'c', 'own', 'own', 'own'])
      expect((await forgot(tagged(tag), '203.0.115.1')).status).toBe(202);
    await until(() => mailsTo(tagged('own')).length === 3);
    expect((await reset(await tokenFor(email))).status).toBe(200);
  });

  test('the oldest account of a mailbox keeps its links in every spelling', async () => {
    const local = `reset${counter++}`;
    const [owner, later] = [
      `${local.slice(0, 3)}.${local.slice(3)}+own@gmail.com`,
      `${local}+x@googlemail.com`,
    ];
    for (const email of [owner, later]) {
      await call(suite.url, 'POST', '/api/auth/signup', { body: { email, password: PASSWORD, name: 'Ada' } });
    }
    for (let sent = 1; sent <= 3; sent++) {
      expect((await forgot(later, '203.0.115.3')).status).toBe(202);
      await until(() => mailsTo(later).length === sent);
    }
    expect((await reset(await tokenFor(owner))).status).toBe(200);
  });

  test('a mailbox gets three emails for all accounts with tagged spellings of it together', async () => {
    const { email } = await newAccount();
    const tagged = ['a', 'b', 'c', 'd'].map((tag) => email.replace('@', `+${tag}@`));
    for (const [at, address] of tagged.entries()) {
      await call(suite.url, 'POST', '/api/auth/signup', {
        body: { email: address, password: PASSWORD, name: 'Ada' },
      });
      expect((await forgot(address, '203.0.115.2')).status).toBe(202);
      if (at < 3) await until(() => mailsTo(address).length === 1);
    }
    // Mails are sent in order: the plain spelling has its own, and the fourth tagged one is not there.
    await tokenFor(email);
    expect(mailsTo(tagged[3]!)).toEqual([]);
  });

  test('an email that the server refuses is logged without its address', async () => {
    const { email } = await newAccount();
    const { context, logged } = jobContext(suite.db.orm);
    mailbox.refuse({ at: 'rcpt', code: 550, text: `5.1.1 <${email}> does not exist` });
    await suite.platform.services.accounts.forgotPassword(context, { email });
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ code: 'EENVELOPE', responseCode: 550 }]);
    expect(JSON.stringify(logged)).not.toContain(email);
  });

  test('nothing is sent for a disabled account; made-up tokens and weak passwords are refused', async () => {
    const { email } = await newAccount();
    await suite.db.pool.query(`update accounts set status = 'disabled' where email = $1`, [email]);
    expect((await forgot(email)).status).toBe(202);
    const { email: other } = await newAccount();
    const token = await tokenFor(other);
    expect(mailsTo(email)).toEqual([]);
    expect((await reset('x'.repeat(43))).status).toBe(422);
    const weak = await reset(token, 'password');
    expect([weak.status, weak.body.error.details?.[0]?.field]).toEqual([422, 'password']);
    expect((await reset(token)).status).toBe(200);
  });

  test('works the same over GraphQL, with the same schema', async () => {
    const { email } = await newAccount();
    const ask = (query: string, input: object) =>
      call<{ data: Record<string, { accessToken?: string; success?: boolean }>; errors?: unknown[] }>(
        suite.url,
        'POST',
        '/graphql',
        { body: { query, variables: { input } } },
      );
    const FORGOT = 'mutation ($input: ForgotPasswordInput!) { forgotPassword(input: $input) { success } }';
    const RESET = 'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { accessToken } }';
    expect((await ask(FORGOT, { email })).body.data.forgotPassword).toEqual({ success: true });
    await until(() => mailsTo(email).length === 1);
    const token = /#([\w-]{43})/.exec(mailsTo(email)[0]!.parsed.text!)![1]!;
    const done = await ask(RESET, { token, password: NEW_PASSWORD });
    expect(done.body.data.resetPassword!.accessToken).toMatch(/^ey/);
    const again = await ask(RESET, { token, password: NEW_PASSWORD });
    expect(again.body.errors).toMatchObject([
      { extensions: { code: 'validation_error', details: [{ field: 'token' }] } },
    ]);
  });
});

describe('a forgotten password without a configured mail server', () => {
  const suite = usePlatform();

  test('gets the usual answer, and the installation reports that it sends no emails', async () => {
    const user = await signUp(suite.url);
    expect(user.token).toBeDefined();
    const answer = await call(suite.url, 'POST', '/api/auth/forgot-password', {
      body: { email: 'someone@example.com' },
    });
    expect([answer.status, answer.text]).toEqual([202, '']);
    const { body } = await call<{ data: unknown }>(suite.url, 'POST', '/graphql', {
      body: { query: '{ installation { mailConfigured } }' },
    });
    expect(body.data).toEqual({ installation: { mailConfigured: false } });
  });
});
