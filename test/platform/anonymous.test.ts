import { operate } from '../graphql/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';

const MINUTE_MS = 60_000;

describe('requests without a session', () => {
  const clock = testClock();
  const suite = usePlatform({ clock });

  const ask = (from: string, method = 'GET', path = '/api/auth/me', token?: string) =>
    call<ErrorAnswer>(suite.url, method, path, {
      headers: { 'x-forwarded-for': from },
      ...(token && { token }),
    });
  /** Uses up what an address may ask, and gives how many were answered. */
  const spend = async (times: number, address: (i: number) => string): Promise<number> => {
    let answered = 0;
    for (let done = 0; done < times; done += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(address(done + i))));
      answered += answers.filter(({ status }) => status === 401).length;
    }
    return answered;
  };

  test("are limited to 600 a minute from one address and 1,200 from its /24; those with a session don't count", async () => {
    const { token } = await signUp(suite.url);
    expect(await spend(650, () => '198.51.100.1')).toBe(600);
    const refused = await ask('198.51.100.1');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await ask('198.51.100.1', 'GET', '/api/auth/me', token)).status).toBe(200);
    expect((await ask('198.51.101.1', 'GET', '/api/plans')).status).toBe(200);
    expect(await spend(650, (i) => `198.51.100.${2 + (i % 4)}`)).toBe(600);
    // As many come back in a minute, evenly.
    clock.advance(MINUTE_MS / 600);
    expect((await ask('198.51.100.1', 'GET', '/api/plans')).status).toBe(200);
    expect((await ask('198.51.100.1', 'GET', '/api/plans')).status).toBe(429);
    clock.advance(MINUTE_MS);
    expect((await ask('198.51.100.1', 'GET', '/api/plans')).status).toBe(200);
  });

  test('over GraphQL count as one, plus one for each 500 of their cost', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.20' };
    const { token } = await signUp(suite.url);
    const days = 'models { days { date requests successRate p95LatencyMs } }';
    const costly = `{ a: status { ${days} } b: status { ${days} } c: status { ${days} } }`;
    const ask = (query: string, whose?: string) =>
      operate(suite.url, query, { headers, ...(whose && { token: whose }) });
    const asked = 50;
    const answers = [];
    for (let i = 0; i < asked; i++) answers.push(await ask(costly));
    // Each takes 17 of 600; the last may take more than is left.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(36);
    const refused = answers[asked - 1]!;
    expect([refused.status, refused.body.errors![0]!.extensions.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await ask('{ plans { name } }')).status).toBe(429);
    expect((await ask(costly, token)).status).toBe(200);
    clock.advance(MINUTE_MS);
    expect((await ask(costly)).status).toBe(200);
  });

  test('are limited on every route of /api and /graphql, and on every write, whatever the response', async () => {
    const from = '2001:db8::1';
    expect(await spend(600, () => from)).toBe(600);
    const bounded = platformRoutes.filter(
      ({ method, url }) => /^\/(?:api|graphql$)/.test(url) || method !== 'GET',
    );
    expect(bounded.length).toBeGreaterThan(30);
    expect(bounded.map(({ url }) => url)).toEqual(expect.arrayContaining(['/mail/stop', '/mail/confirm']));
    for (const { method, url } of bounded) {
      const path = url.replace(/:\w+/g, '00000000-0000-7000-8000-000000000000');
      expect([method, url, (await ask(from, method, path, 'no.such.token')).status]).toEqual([
        method,
        url,
        429,
      ]);
    }
    // Another network, and pages, which come from memory.
    expect((await ask('2001:db8:1::1', 'GET', '/api/plans')).status).toBe(200);
    for (const path of ['/login', '/docs', '/health', '/openapi.json']) {
      expect([path, (await ask(from, 'GET', path)).status]).toEqual([path, 200]);
    }
  });

  test("aren't counted from this machine outside production", async () => {
    const answers = await Promise.all(
      Array.from({ length: 610 }, () => call(suite.url, 'GET', '/api/auth/me')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(610);
  });
});
