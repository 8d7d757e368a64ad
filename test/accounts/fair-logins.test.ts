import { PASSWORD_PROFILES } from '../../src/lib/password-profiles.js';
import { createPasswords } from '../../src/services/accounts/passwords.js';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Log-ins at once of all strangers together, each with a real hash unless it is refused. */
const FLOOD = 200;

describe('a flood of log-ins', () => {
  let db: TestDatabase;
  let platform: TestPlatform;
  let edge: TestEdge;
  let counter = 0;
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db, { env: { PASSWORD_HASH_PROFILE: 'owasp' } });
    edge = await startTestEdge(db, {
      upstreamUrl: platform.url,
      platformUrl: platform.url,
      env: { TRUST_PROXY: '127.0.0.1' },
    });
  });
  afterAll(async () => {
    await edge?.close();
    await platform?.close();
    await db?.close();
  });

  const login = (from: string, email = `stranger-${counter++}@example.com`) =>
    call<ErrorAnswer>(edge.url, 'POST', '/api/auth/login', {
      body: { email, password: PASSWORD },
      headers: { 'x-forwarded-for': from },
    });

  /** Many log-ins at once, and how many of them have been compared so far. */
  const flood = (addresses: readonly string[]) => {
    const tally = { compared: 0, answered: 0 };
    const answers = addresses.flatMap((address) =>
      Array.from({ length: Math.ceil(FLOOD / addresses.length) }, async () => {
        const answer = await login(address);
        tally.answered++;
        if (answer.status === 401) tally.compared++;
        return answer;
      }),
    );
    return { tally, answers };
  };

  test.each([
    ['one address', ['198.51.100.1']],
    ['five addresses', Array.from({ length: 5 }, (_, i) => `198.18.${i}.1`)],
    ['five IPv6 networks of one /48', Array.from({ length: 5 }, (_, i) => `2001:db8:5:${i}::1`)],
  ])(
    'from %s keeps nobody else from logging in, from the dashboard or from a page',
    async (_what, addresses) => {
      const { token, user } = await signUp(platform.url);
      const victim = { headers: { 'x-forwarded-for': `203.0.113.${addresses.length}` }, token };
      const { tally, answers } = flood(addresses);
      await until(() => tally.compared > 0, { intervalMs: 2 });

      /** Hashes of strangers that were done while an answer was waited for. */
      const waitedFor = async (ask: () => Promise<{ status: number }>): Promise<number> => {
        const before = tally.compared;
        expect((await ask()).status).toBe(200);
        return tally.compared - before;
      };
      const lines = addresses[0]!.includes(':') ? 1 : addresses.length;
      // One of each line, and those that run or are on their way back.
      expect(await waitedFor(() => login(victim.headers['x-forwarded-for'], user.email))).toBeLessThan(
        lines + 12,
      );
      expect(await waitedFor(() => call(edge.url, 'GET', '/api/auth/me', victim))).toBeLessThan(16);
      expect(await waitedFor(() => call(edge.url, 'GET', '/login', victim))).toBeLessThan(16);

      const all = await Promise.all(answers);
      // 50 failures in, an address has had its share.
      const refused = all.filter(({ status }) => status === 503 || status === 429);
      expect(refused.length).toBeGreaterThan(FLOOD / 4);
      expect(refused.some(({ status }) => status === 503)).toBe(true);
      expect(all.filter((answer) => answer.status !== 401 && !refused.includes(answer))).toEqual([]);
      for (const { status, body, headers } of refused.filter((answer) => answer.status === 503)) {
        expect([status, body.error.code, headers.get('retry-after')]).toEqual([
          503,
          'service_unavailable',
          '2',
        ]);
      }
    },
  );

  test('limits addresses of this machine if a proxy names them, and not if they connect directly', async () => {
    const email = `local-${counter++}@example.com`;
    const statuses = async (ask: () => Promise<{ status: number }>): Promise<number[]> => {
      const seen: number[] = [];
      for (let i = 0; i < 12; i++) seen.push((await ask()).status);
      return seen;
    };
    const body = { email, password: PASSWORD };
    const itself = () => call(edge.url, 'POST', '/api/auth/login', { body });
    expect(await statuses(itself)).toEqual(Array(12).fill(401));
    expect(await statuses(() => login('127.0.0.1', email))).toEqual([...Array(10).fill(401), 429, 429]);
  });
});

describe('the queue for hashing', () => {
  test('is short for a network and long for an exempt one', async () => {
    const passwords = createPasswords(PASSWORD_PROFILES.test);
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const ask = (network: string, exempt: boolean) =>
      Array.from({ length: 60 }, () => passwords.inTurn({ network, exempt }, () => held));
    const all = [...ask('a', false), ...ask('b', true)];
    const settled = Promise.allSettled(all);
    finish();
    const codes = (await settled).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : 'done',
    );
    const refused = codes.slice(0, 60).filter((code) => code === 'service_unavailable');
    // 16 wait, and at most 5 run.
    expect(refused.length).toBeGreaterThanOrEqual(60 - 16 - 5);
    expect(refused.length).toBeLessThanOrEqual(60 - 16 - 3);
    expect(codes.slice(60)).toEqual(Array(60).fill('done'));
  });
});
