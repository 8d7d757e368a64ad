import { RATES } from '../../src/platform/rates.js';
import { codesOf, follow, type GraphqlError, operate, socketClient } from '../graphql/support.js';
import { type ApiAnswer, call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

const NOW = Date.now();
const MINUTE_MS = 60_000;
/** On this machine nobody is counted: a front door names these callers. */
const ADA = { 'x-forwarded-for': '203.0.113.7' };
const BOB = { 'x-forwarded-for': '198.51.100.7' };

/** What a caller may ask in a minute. The clock is stopped, so that nothing is refilled. */
describe('rates of /api and /graphql', () => {
  let now = NOW;
  const suite = usePlatform({ clock: { now: () => now } });
  beforeEach(() => {
    now += 2 * MINUTE_MS;
  });
  const account = () => signUp(suite.url);
  const times = async (count: number, ask: () => Promise<{ status: number }>): Promise<number[]> => {
    const statuses: number[] = [];
    // In parts: all at once would wait for the database in too long a line.
    for (let done = 0; done < count; done += 50) {
      const part = Array.from({ length: Math.min(50, count - done) }, ask);
      statuses.push(...(await Promise.all(part)).map(({ status }) => status));
    }
    return statuses;
  };
  const refusedOf = (statuses: number[]): number => statuses.filter((status) => status === 429).length;
  const expectRefusal = (answer: ApiAnswer<ErrorAnswer>, seconds: number): void => {
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([
      429,
      'rate_limit_exceeded',
      'requests',
    ]);
    expect(Number(answer.headers.get('retry-after'))).toBe(seconds);
  };

  test.each([
    ['reads', RATES.read, 'GET', '/api/billing/balance'],
    ['writes', RATES.write, 'POST', '/api/billing/topup'],
    ['exports and analytics', RATES.heavy, 'GET', '/api/usage/analytics'],
  ])(
    "%s: %d a minute per account, from any address; others aren't affected",
    async (_what, most, method, path) => {
      const { token } = await account();
      const { token: other } = await account();
      const ask = (headers: Record<string, string>, whose = token) =>
        call<ErrorAnswer>(suite.url, method, path, { token: whose, headers });
      const statuses = await times(most + 3, () => ask(ADA));
      expect(refusedOf(statuses)).toBe(3);
      const wait = Math.ceil(60 / most);
      const refused = await ask(BOB);
      expectRefusal(refused, wait);
      const words = wait === 1 ? 'a second' : `${wait} seconds`;
      expect(refused.body.error.message).toBe(`Too many requests. Try again in ${words}.`);
      expect((await ask(ADA, other)).status).not.toBe(429);
      now += wait * 1_000;
      expect((await ask(BOB)).status).not.toBe(429);
    },
  );

  test('GraphQL counts by cost: a document of 10,000 as 21 reads', async () => {
    const { token } = await account();
    const { token: other } = await account();
    const costly = `{ viewer { apiKeys(first: 96) { nodes { usageByDay(days: 50) { date costUsd } } } } }`;
    const ask = (headers: Record<string, string>, whose = token) =>
      operate(suite.url, costly, { token: whose, headers });
    const answers = await times(33, () => ask(ADA));
    const passed = 33 - refusedOf(answers);
    expect(passed).toBeGreaterThan(25);
    expect(passed).toBeLessThan(32);
    const refused = await ask(ADA);
    expect([refused.status, codesOf(refused)]).toEqual([429, ['rate_limit_exceeded']]);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBe(refused.body.errors![0]!.extensions.retryAfterSeconds);
    expect(seconds).toBeGreaterThan(0);
    expect((await ask(ADA, other)).status).toBe(200);
  });

  test('each 64 KiB of a request count as one more read', async () => {
    const { token } = await account();
    const { token: other } = await account();
    const long = `{ viewer { id } }${' '.repeat(700_000)}`;
    const codes = new Set<string | undefined>();
    const ask = async (whose = token) => {
      const answer = await operate(suite.url, long, { token: whose, headers: ADA });
      if (answer.status === 429) codes.add(codesOf(answer)[0]);
      return answer;
    };
    // Each takes 11 of 600, of which ten come back in a second.
    const refused = refusedOf(await times(90, () => ask()));
    expect(90 - refused).toBeGreaterThanOrEqual(54);
    expect(refused).toBeGreaterThan(0);
    expect([...codes]).toEqual(['rate_limit_exceeded']);
    expect((await ask(other)).status).toBe(200);
  });

  test('each mutation of a document is a write', async () => {
    const { token } = await account();
    const many = `mutation { ${Array.from({ length: 15 }, (_, n) => `a${n}: deleteApiKey(input: { id: "x" }) { deletedApiKeyId }`).join(' ')} }`;
    const answers = await times(RATES.write / 15, () => operate(suite.url, many, { token, headers: ADA }));
    expect(refusedOf(answers)).toBe(0);
    const refused = await operate(suite.url, 'mutation { logout { success } }', { token, headers: ADA });
    expect(codesOf(refused)).toEqual(['rate_limit_exceeded']);
    expect((await operate(suite.url, '{ viewer { id } }', { token, headers: ADA })).status).toBe(200);
  });

  test('operations over WebSocket count as well', async () => {
    const { token } = await account();
    const reads = await times(RATES.read, () =>
      call(suite.url, 'GET', '/api/billing/balance', { token, headers: BOB }),
    );
    expect(refusedOf(reads)).toBe(0);
    const client = socketClient(suite.url, { token, headers: { 'x-forwarded-for': '192.0.2.7' } });
    const followed = follow(client, '{ viewer { id } }');
    await until(() => followed.ended);
    const [error] = followed.error as GraphqlError[];
    expect(error!.extensions).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 });
    await client.dispose();
  });

  test("requests from this machine in development aren't counted", async () => {
    const { token } = await account();
    const ask = () => call(suite.url, 'GET', '/api/usage/analytics', { token });
    expect(refusedOf(await times(RATES.heavy + 5, ask))).toBe(0);
  });
});
