import { networksOf } from '../../src/lib/network.js';
import { LOGIN_WINDOW_MS } from '../../src/services/accounts/login-limits.rules.js';
import { openPseudonymKey } from '../../src/services/accounts/pseudonym-key.store.js';
import { createPseudonyms } from '../../src/services/accounts/pseudonyms.rules.js';
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

  /** The names that the limits count under. */
  const pseudonyms = async () =>
    createPseudonyms(await openPseudonymKey(suite.db.orm.em.fork(), suite.platform.config));

  /** Failures with an account as ten other networks have left them. */
  const strangersFail = async (email: string, times: number): Promise<void> => {
    const names = await pseudonyms();
    await suite.db.pool.query(
      `insert into login_failures (id, mail_hash, network_hash, created_at)
       select gen_random_uuid(), $1, 'network ' || i % 10, $2 from generate_series(1, $3) i`,
      [names.mail(email), new Date(clock.now()), times],
    );
  };

  /** Failures as an address has left them a moment ago, with whatever mails: far from a bound each is like the last. */
  const failed = async (from: string, times: number): Promise<void> => {
    const names = await pseudonyms();
    await suite.db.pool.query(
      `insert into network_counts as c (name, attempts, failures, ends_at)
       select name, $2, $2, $3 from unnest($1::text[]) name
       on conflict (name) do update set attempts = c.attempts + $2, failures = c.failures + $2`,
      [
        networksOf(from).map((network) => `login:${names.network(network)}`),
        times,
        new Date(clock.now() + LOGIN_WINDOW_MS),
      ],
    );
  };

  test('evaluates 10 failures per account and network, over two processes at once', async () => {
    const email = await newMail();
    const answers = await fail(email, HERE, 24);
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(14);
  });

  test('evaluates 20 failures per account and IPv6 /56, 30 per /48', async () => {
    const email = await newMail();
    // One /48 with two /64s in each of three /56s.
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const from = `2001:db8:77:${((i % 3) * 256 + Math.floor(i / 3)).toString(16)}::1`;
      statuses.push(...(await fail(email, from, 6)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    const narrow = await newMail();
    const one: number[] = [];
    for (let i = 0; i < 3; i++)
      one.push(...(await fail(narrow, `2001:db8:78:${i}::1`, 8)).map(({ status }) => status));
    expect(one.filter((status) => status === 401)).toHaveLength(20);
  });

  test('then refuses the right password too, says how long to wait, and accepts it afterwards', async () => {
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

  test("doesn't lock out the owner on another network", async () => {
    const email = await newMail();
    await fail(email, HERE, 12);
    expect((await login(email, PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('counts the addresses of one network together, and other networks separately', async () => {
    const email = await newMail();
    await fail(email, '198.51.100.1', 10);
    expect((await login(email, PASSWORD, '198.51.100.254')).status).toBe(429);
    await fail(email, '2001:db8:1:1::1', 10);
    expect((await login(email, PASSWORD, '2001:db8:1:1:ffff::2')).status).toBe(429);
    expect((await login(email, PASSWORD, '2001:db8:1:2::1')).status).toBe(200);
  });

  test('a successful log-in clears the count of its network', async () => {
    const email = await newMail();
    await fail(email, HERE, 9);
    expect((await login(email, PASSWORD, HERE)).status).toBe(200);
    const answers = await fail(email, HERE, 10);
    expect(answers.every((answer) => answer.status === 401)).toBe(true);
  });

  test('evaluates at most 100 failures per account over all networks', async () => {
    const email = await newMail();
    await strangersFail(email, 90);
    const answers = await fail(email, '10.0.1.1', 9);
    expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(401));
    expect((await login(email, 'a wrong password', '10.0.2.1')).status).toBe(401);
    expect((await login(email, PASSWORD, '10.0.99.1')).status).toBe(429);
  });

  /** Guesses at one mail after the other, and gives the statuses. */
  const guess = async (times: number, address: (i: number) => string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++) {
      const url = i % 2 === 0 ? suite.url : second.url;
      statuses.push((await login(`guess-${counter++}@example.com`, 'x', address(i), url)).status);
    }
    return statuses;
  };
  const first = (most: number, refused: number) => [...Array(most).fill(401), ...Array(refused).fill(429)];

  test('evaluates 50 failures of an IPv4 address for any email addresses, and 100 of a /24', async () => {
    expect(await guess(5, () => '198.18.1.1')).toEqual(first(5, 0));
    await failed('198.18.1.1', 40);
    expect(await guess(8, () => '198.18.1.1')).toEqual(first(5, 3));
    await failed('198.18.1.2', 40);
    expect(await guess(13, (i) => `198.18.1.${3 + i}`)).toEqual(first(10, 3));
  });

  test('evaluates 50 failures of an IPv6 /64 for any email addresses, 100 of a /56, 200 of a /48', async () => {
    await failed('2001:db8:81:1::', 40);
    expect(await guess(12, (i) => `2001:db8:81:1::${i}`)).toEqual(first(10, 2));
    await failed('2001:db8:81:2::', 40);
    expect(await guess(12, (i) => `2001:db8:81:${i + 3}::1`)).toEqual(first(10, 2));
    for (const other of ['f000', 'f100']) await failed(`2001:db8:81:${other}::1`, 42);
    expect(await guess(18, (i) => `2001:db8:81:${(i % 4) + 1}${i % 16}0::1`)).toEqual(first(16, 2));
  });

  test('says how long a network has to wait, and lets it in afterwards', async () => {
    const from = '198.18.3.1';
    await failed(from, 49);
    expect(await guess(1, () => from)).toEqual([401]);
    clock.advance(5 * MINUTE);
    const refused = await login('wait@example.com', 'x', from);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600']);
    clock.advance(10 * MINUTE);
    expect((await login('wait@example.com', 'x', from)).status).toBe(401);
  });

  test("doesn't count successful log-ins as failures of their network", async () => {
    const from = '198.18.6.1';
    await failed(from, 47);
    expect(await guess(2, () => from)).toEqual(first(2, 0));
    for (let i = 0; i < 3; i++) expect((await login(await newMail(), PASSWORD, from)).status).toBe(200);
    expect(await guess(2, () => from)).toEqual(first(1, 1));
  });

  test('limits the log-ins of an account from a known network', async () => {
    const email = await newMail();
    const statuses = async (times: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let i = 0; i < times; i++) seen.push((await login(email, PASSWORD, '198.18.4.1')).status);
      return seen;
    };
    // The first one made the network known; it has 100 attempts of its own.
    expect(await statuses(3)).toEqual([200, 200, 200]);
    // As 93 more have left it, all of them with the right password.
    const names = await pseudonyms();
    const { rowCount } = await suite.db.pool.query(
      'update network_counts set attempts = attempts + 93 where name like $1',
      [`known:${names.mail(email)}:%`],
    );
    expect(rowCount).toBe(1);
    expect(await statuses(6)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('limits successful log-ins of one network to many accounts', async () => {
    const names = await pseudonyms();
    await login('any@example.com', 'x', '198.18.5.1');
    const name = `login:${names.network('198.18.5.1')}`;
    const most = 200;
    // As 198 more have left it, all of them with the right password.
    await suite.db.pool.query('update network_counts set attempts = $2 where name = $1', [name, most - 1]);
    expect(await guess(2, () => '198.18.5.1')).toEqual([401, 429]);
  });

  describe('of strangers', () => {
    const HOME = '192.0.2.77';
    /** All failures that strangers may have with one account, ten each from ten networks. */
    const attack = async (email: string): Promise<void> => {
      await strangersFail(email, 100);
      expect((await login(email, PASSWORD, '10.1.99.1')).status).toBe(429);
    };

    test("don't lock out a network from which the account has logged in before", async () => {
      const email = await newMail();
      expect((await login(email, PASSWORD, HOME)).status).toBe(200);
      await attack(email);
      expect((await login(email, PASSWORD, '192.0.2.78', second.url)).status).toBe(200);
      // Not even with others' failures in that very network.
      await failed(HOME, 45);
      expect(await guess(6, () => HOME)).toEqual(first(5, 1));
      expect((await login(email, PASSWORD, HOME)).status).toBe(200);
    });

    test("don't lock out the network that it signed up from", async () => {
      const email = `limits-${counter++}@example.com`;
      const answer = await call(suite.url, 'POST', '/api/auth/signup', {
        body: { email, password: PASSWORD, name: 'Ada' },
        headers: { 'x-forwarded-for': HOME },
      });
      expect(answer.status).toBe(200);
      await attack(email);
      expect((await login(email, PASSWORD, HOME)).status).toBe(200);
    });

    test('a known network still has at most 10 failures', async () => {
      const email = await newMail();
      const home = '192.0.20.1';
      expect((await login(email, PASSWORD, home)).status).toBe(200);
      const answers = await fail(email, home, 12);
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    });

    test("don't keep the owner of a live session from changing the password", async () => {
      const email = await newMail();
      const { token } = await signUp(suite.url, { email: `own-${email}` });
      await attack(`own-${email}`);
      const body = { current_password: PASSWORD, new_password: 'quite another one' };
      const answer = await call(suite.url, 'POST', '/api/auth/password', {
        token,
        body,
        headers: { 'x-forwarded-for': '10.1.0.1' },
      });
      expect(answer.status).toBe(204);
    });

    test('a network is known for 90 days, and only to that account', async () => {
      const [email, other] = [await newMail(), await newMail()];
      const home = '192.0.21.1';
      expect((await login(email, PASSWORD, home)).status).toBe(200);
      await attack(other);
      expect((await login(other, PASSWORD, home)).status).toBe(429);
      clock.advance(90 * 24 * 60 * MINUTE - 1);
      await attack(email);
      expect((await login(email, 'a wrong password', home)).status).toBe(401);
      clock.advance(1);
      expect((await login(email, PASSWORD, home)).status).toBe(429);
    });

    test('networks are stored as keyed hashes, twenty per account, and are deleted with it', async () => {
      const { token, user } = await signUp(suite.url);
      for (let i = 0; i < 25; i++) await login(user.email, PASSWORD, `10.2.${i}.1`);
      const kept = async () =>
        (
          await suite.db.pool.query<{ row: string }>(
            'select to_jsonb(n)::text as row from known_networks n where account_id = $1',
            [user.id],
          )
        ).rows;
      expect(await kept()).toHaveLength(20);
      for (const { row } of await kept()) {
        expect(row).toMatch(/"network_hash": "[0-9a-f]{64}"/);
        expect(row).not.toMatch(/10\.2\./);
      }
      await call(suite.url, 'DELETE', '/api/auth/me', { token, body: { password: PASSWORD } });
      expect(await kept()).toEqual([]);
    });
  });

  test('counts unknown addresses the same, and stores neither email address nor IP address', async () => {
    const answers = await fail('unknown@example.com', HERE, 11);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(1);
    const { rows } = await suite.db.pool.query<{ row: string }>(
      'select to_jsonb(f)::text as row from login_failures f',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toMatch(/example\.com|198\.51\.100/);
  });

  test("doesn't limit this machine outside production", async () => {
    const email = await newMail();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        call(suite.url, 'POST', '/api/auth/login', { body: { email, password: 'a wrong password' } }),
      ),
    );
    expect(answers.every((answer) => answer.status === 401)).toBe(true);
  });

  test('also limits guesses of the password by a stolen session', async () => {
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

  test('allows a limited number of sign-ups per network and 24 hours', async () => {
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

  test('allows 50 sign-up attempts a day from an IPv4 /24 or IPv6 /64 whether they succeed or not, 100 from a /56, 200 from a /48', async () => {
    const email = await newMail();
    const tries = async (times: number, address: (i: number) => string) => {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) {
        const url = i % 2 === 0 ? suite.url : second.url;
        const body = { email, password: PASSWORD, name: 'Eve' };
        const headers = { 'x-forwarded-for': address(i) };
        const answer = await call(url, 'POST', '/api/auth/signup', { body, headers });
        statuses.push(answer.status);
        if (answer.status === 429) expect(answer.headers.get('retry-after')).toBe('86400');
      }
      return statuses;
    };
    const taken = (most: number) => [...Array(most).fill(409), 429];
    expect(await tries(51, (i) => `198.18.9.${i}`)).toEqual(taken(50));
    expect(await tries(51, (i) => `2001:db8:91:1::${i}`)).toEqual(taken(50));
    expect(await tries(51, (i) => `2001:db8:91:${i + 2}::1`)).toEqual(taken(50));
    expect(await tries(101, (i) => `2001:db8:91:${(i % 4) + 1}${i % 16}0::1`)).toEqual(taken(100));
  });
});
