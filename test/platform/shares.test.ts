import { request } from 'node:http';
import type pg from 'pg';
import { pgPool } from '../../src/db/connection.js';
import { encodeInvalidation, INVALIDATION_CHANNEL } from '../../src/db/invalidation.js';
import { asWork, currentOwner } from '../../src/lib/work-owner.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { newShareSlug } from '../../src/services/playground/playground.rules.js';
import { contextOf } from '../billing/fixtures.js';
import { follow, operate, socketClient } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { writeLongPrompts } from '../prompts/long-prompts.js';
import { type ApiAnswer, call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { watchPool } from '../support/watched-pool.js';

const ALIASES = Array.from({ length: 15 }, (_, n) => `a${n}: usageEvents(first: 1) { nodes { id } }`).join(
  ' ',
);
const USAGE = `{ viewer { ${ALIASES} } }`;
/** Also figures that are the same for everybody. */
const FIGURES = `{ status { generatedAt } viewer { ${ALIASES} leaderboardMix { generatedAt } } }`;
const CHANGES = 'subscription { accountChanged { planName } }';

/** The body is sent when the platform has taken the head. */
const operateLate = (url: string, query: string, token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        expect: '100-continue',
      },
    });
    asked.once('continue', () => asked.end(JSON.stringify({ query })));
    asked.once('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    asked.once('error', reject);
    asked.flushHeaders();
  });

/** The pool of the platform has eight connections, of which a quarter is two. */
describe("one caller's database work", () => {
  const suite = usePlatform({ own: true });
  let hog: Awaited<ReturnType<typeof signUp>>;
  let stranger: Awaited<ReturnType<typeof signUp>>;
  beforeAll(async () => {
    hog = await signUp(suite.url);
    stranger = await signUp(suite.url);
  });

  /** Statements that wait for the table. */
  const stuck = async (): Promise<number> =>
    (
      await suite.db.pool.query(
        `select from pg_locks l join pg_database d on d.oid = l.database where not granted and datname = current_database()`,
      )
    ).rowCount!;

  /** Runs `work` while whoever reads the table waits. */
  const whileStuck = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
    const client: pg.PoolClient = await suite.db.pool.connect();
    try {
      await client.query(`begin; lock table ${table} in access exclusive mode`);
      return await work();
    } finally {
      await client.query('rollback');
      client.release();
    }
  };

  const me = (headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    call(suite.url, 'GET', '/api/auth/me', { token: stranger.token, headers });

  /** The codes of nine answers to a caller whose table is stuck, at least until `seen`. A stranger is answered meanwhile. */
  const codesOf = async (
    table: string,
    document: string,
    seen: (codes: ReadonlySet<string>) => boolean = () => true,
  ): Promise<Set<string>> => {
    const codes = new Set<string>();
    const ask = async (): Promise<void> => {
      const { body } = await operate(suite.url, document, {
        token: hog.token,
      });
      for (const { extensions } of body.errors ?? []) codes.add(extensions.code);
    };
    let asked: Promise<unknown>;
    await whileStuck(table, async () => {
      asked = Promise.all(Array.from({ length: 9 }, ask));
      await until(async () => (await stuck()) > 1 && seen(codes));
      expect((await me()).status).toBe(200);
    });
    await asked!;
    return codes;
  };

  test('waits on a quarter of the connections: a stranger is answered in the meantime, and nothing is lost', async () => {
    let answers: Promise<ApiAnswer<{ errors?: unknown }>[]>;
    await whileStuck('account_usage_hours', async () => {
      answers = Promise.all(Array.from({ length: 6 }, () => operate(suite.url, USAGE, { token: hog.token })));
      await until(async () => (await stuck()) > 1);
      for (let n = 0; n < 5; n++) expect((await me()).status).toBe(200);
      expect(await stuck()).toBe(2);
    });
    for (const { status, body } of await answers!) expect([status, body.errors]).toEqual([200, undefined]);
  });

  test('counts as the caller’s also where the body comes late', async () => {
    let answers: Promise<number[]>;
    await whileStuck('account_usage_hours', async () => {
      answers = Promise.all(Array.from({ length: 6 }, () => operateLate(suite.url, USAGE, hog.token)));
      await until(async () => (await stuck()) > 1);
      expect((await me()).status).toBe(200);
      expect(await stuck()).toBe(2);
    });
    expect(await answers!).toEqual(Array(6).fill(200));
  });

  test('is refused beyond what may wait, while the stranger is still served', async () => {
    const codes = await codesOf('account_usage_hours', USAGE, ({ size }) => size > 0);
    expect(codes).toEqual(new Set(['rate_limit_exceeded']));
  });

  test('is refused with the same message where the EntityManager asks', async () => {
    const aliases = Array.from({ length: 15 }, (_, n) => `a${n}: prompt(id: "none-${n}") { id }`).join(' ');
    const codes = await codesOf('prompts', `{ viewer { ${aliases} } }`);
    expect(codes).toEqual(new Set(['not_found', 'rate_limit_exceeded']));
  });

  test('counts for the network before authentication', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const models = () => call<ErrorAnswer>(suite.url, 'GET', '/api/models', from('203.0.113.9'));
    let answers: Promise<ApiAnswer[]>;
    await whileStuck('models', async () => {
      answers = Promise.all(Array.from({ length: 10 }, models));
      await until(async () => (await stuck()) > 1);
      const other = await call(suite.url, 'GET', '/api/plans', from('198.51.100.9'));
      expect(other.status).toBe(200);
      expect(await stuck()).toBe(2);
    });
    expect((await answers!).map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  test("doesn't keep anybody from figures that it requested first", async () => {
    await call(suite.url, 'GET', '/api/leaderboard');
    let answer: Promise<ApiAnswer>;
    await whileStuck('account_usage_hours', async () => {
      answer = operate(suite.url, FIGURES, { token: hog.token });
      await until(async () => (await stuck()) > 1);
      expect((await call(suite.url, 'GET', '/api/status')).status).toBe(200);
      const { token } = stranger;
      expect((await call(suite.url, 'GET', '/api/leaderboard/mine', { token })).status).toBe(200);
      expect(await stuck()).toBe(2);
    });
    expect((await answer!).status).toBe(200);
  });

  test("doesn't keep anybody from the prices on pages", async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const shared = () => call(suite.url, 'GET', `/api/playground/shared/${newShareSlug()}`, { headers });
    let answers: Promise<ApiAnswer[]>;
    await whileStuck('playground_sessions', async () => {
      answers = Promise.all([shared(), shared()]);
      await until(async () => (await stuck()) > 1);
      expect((await call(suite.url, 'GET', '/migrate', { headers })).status).toBe(200);
      expect((await call(suite.url, 'GET', '/pricing')).status).toBe(200);
    });
    expect((await answers!).map(({ status }) => status)).toEqual([404, 404]);
  });

  test('delays no live event, neither its own nor a stranger’s', async () => {
    const callers = [hog, stranger];
    const clients = callers.map(({ token }) => socketClient(suite.url, { token }));
    const both = clients.map((client) => follow<{ accountChanged: { planName: string } }>(client, CHANGES));
    let plan = 'free';
    const change = async (): Promise<void> => {
      plan = plan === 'pro' ? 'team' : 'pro';
      for (const { user } of callers) {
        await suite.db.pool.query('update accounts set plan_id = $1 where id = $2', [plan, user.id]);
        const news = encodeInvalidation({ kind: 'account', id: user.id });
        await suite.db.pool.query('select pg_notify($1, $2)', [INVALIDATION_CHANNEL, news]);
      }
    };
    const reported = (): boolean =>
      both.every(({ results }) => results.at(-1)?.data?.accountChanged.planName === plan);
    const soon = () => until(reported, { timeoutMs: 900, what: 'both to be notified' });
    // A subscription that has begun says nothing by itself.
    await until(async () => {
      await change();
      return soon().catch(() => false);
    });
    let answer: Promise<ApiAnswer>;
    await whileStuck('account_usage_hours', async () => {
      answer = operate(suite.url, USAGE, { token: hog.token });
      await until(async () => (await stuck()) > 1);
      await change();
      // Had it to wait for the statements, they would have ended.
      await until(reported, { what: 'both to be notified meanwhile' });
      expect(await stuck()).toBe(2);
    });
    expect((await answer!).status).toBe(200);
    for (const client of clients) await client.dispose();
  });

  test('remains the caller’s until the last page of an export', async () => {
    const { keyId } = await createTestKey(suite.db, { accountId: hog.user.id });
    const records = Array.from({ length: 2_500 }, () => recordOf({ accountId: hog.user.id, keyId }));
    for (let n = 0; n < records.length; n += 500) await flushBatch(suite.db.pool, records.slice(n, n + 500));
    const owners: (string | undefined)[] = [];
    watchPool(await pgPool(suite.db.orm), (text, ask) => {
      if (text.includes('from usage_events')) owners.push(currentOwner());
      return ask();
    });
    const context = contextOf(suite.db, hog.user.id);
    const pieces = await asWork({ owner: 'hog' }, () => suite.platform.services.billing.usageCsv(context));
    let text = '';
    // As a socket does that drains: outside of the request.
    for await (const piece of pieces) text += piece;
    expect(text.trim().split('\n')).toHaveLength(1 + records.length);
    expect(owners).toEqual(Array(3).fill('hog'));
  });

  test('remains the caller’s until the last piece of a list of long prompts', async () => {
    await writeLongPrompts(suite.db, hog.user.id, 4);
    const owners: (string | undefined)[] = [];
    watchPool(await pgPool(suite.db.orm), (text, ask) => {
      if (text.includes('from prompts')) owners.push(currentOwner());
      return ask();
    });
    const context = contextOf(suite.db, hog.user.id);
    const { first, rest } = await asWork({ owner: 'hog' }, () =>
      suite.platform.services.prompts.list(context, { limit: 50, offset: 0 }),
    );
    expect(first).toHaveLength(1);
    for await (const piece of rest!) expect(piece).toHaveLength(1);
    expect(owners).toEqual(Array(5).fill('hog'));
  });
});
