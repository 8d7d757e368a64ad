import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';

const MINUTE = 60_000;
const HERE = '198.51.100.7';

describe('limits on log-in and sign-up', () => {
  const clock = testClock();
  const options = { clock, env: { SIGNUPS_PER_NETWORK_PER_DAY: '3' } };
  let second: TestPlatform;
  let counter = 0;
  const suite = usePlatform(options);
  beforeAll(async () => {
    second = await startTestPlatform(suite.db, options);
  });
  afterAll(() => second.close());

  const login = (email: string, password: string, from: string, url = suite.url) =>
    call<ErrorAnswer>(url, 'POST', '/api/auth/login', {
      body: { email, password },
      headers: { 'x-forwarded-for': from },
    });
  const newMail = async (): Promise<string> => {
    const email = `limits-${counter++}@example.com`;
    await signUp(suite.url, { email });
    return email;
  };
  const fail = (email: string, from: string, times: number) =>
    Promise.all(
      Array.from({ length: times }, (_, i) =>
        login(email, 'a wrong password', from, i % 2 === 0 ? suite.url : second.url),
      ),
    );

  test('evaluates 10 failures per account and network, over two processes at once', async () => {
    const email = await newMail();
    const answers = await fail(email, HERE, 24);
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(14);
  });

  test('then refuses the right password too, says for how long, and lets it in afterwards', async () => {
    const email = await newMail();
    await fail(email, HERE, 10);
    const refused = await login(email, PASSWORD, HERE);
    expect([refused.status, refused.body.error.code, refused.body.error.type]).toEqual([
      429,
      'rate_limit_exceeded',
      'requests',
    ]);
    expect(refused.headers.get('retry-after')).toBe('900');
    clock.advance(15 * MINUTE);
    expect((await login(email, PASSWORD, HERE)).status).toBe(200);
  });

  test('does not lock the person out who comes from another network', async () => {
    const email = await newMail();
    await fail(email, HERE, 12);
    expect((await login(email, PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('counts the addresses of one network together, and others apart', async () => {
    const email = await newMail();
    await fail(email, '198.51.100.1', 10);
    expect((await login(email, PASSWORD, '198.51.100.254')).status).toBe(429);
    await fail(email, '2001:db8:1:1::1', 10);
    expect((await login(email, PASSWORD, '2001:db8:1:1:ffff::2')).status).toBe(429);
    expect((await login(email, PASSWORD, '2001:db8:1:2::1')).status).toBe(200);
  });

  test('a log-in that succeeds clears the count of its network', async () => {
    const email = await newMail();
    await fail(email, HERE, 9);
    expect((await login(email, PASSWORD, HERE)).status).toBe(200);
    const answers = await fail(email, HERE, 10);
    expect(answers.every((answer) => answer.status === 401)).toBe(true);
  });

  test('evaluates at most 100 failures per account over all networks', async () => {
    const email = await newMail();
    for (let network = 0; network < 10; network++) await fail(email, `10.0.${network}.1`, 10);
    expect((await login(email, PASSWORD, '10.0.99.1')).status).toBe(429);
  });

  test('counts unknown mails the same, and keeps neither mail nor address', async () => {
    const answers = await fail('unknown@example.com', HERE, 11);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(1);
    const { rows } = await suite.db.pool.query<{ row: string }>(
      'select to_jsonb(f)::text as row from login_failures f',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toMatch(/example\.com|198\.51\.100/);
  });

  test('does not limit this machine outside production', async () => {
    const email = await newMail();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        call(suite.url, 'POST', '/api/auth/login', { body: { email, password: 'a wrong password' } }),
      ),
    );
    expect(answers.every((answer) => answer.status === 401)).toBe(true);
  });

  test('also limits guesses of the password by a session that was taken over', async () => {
    const { token } = await signUp(suite.url);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        call(suite.url, 'DELETE', '/api/auth/me', {
          token,
          body: { password: 'a wrong password' },
          headers: { 'x-forwarded-for': HERE },
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(2);
  });

  test('takes so many sign-ups per network and 24 hours', async () => {
    const signup = (from: string) =>
      call<ErrorAnswer>(suite.url, 'POST', '/api/auth/signup', {
        body: { email: `many-${counter++}@example.com`, password: PASSWORD, name: 'Ada' },
        headers: { 'x-forwarded-for': from },
      });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => signup(`192.0.2.${i + 1}`)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused).toHaveLength(3);
    expect(refused[0]!.headers.get('retry-after')).toBe('86400');
    expect((await signup('192.0.3.1')).status).toBe(200);
    clock.advance(24 * 60 * MINUTE);
    expect((await signup('192.0.2.1')).status).toBe(200);
  });
});
