import { once } from 'node:events';
import pg from 'pg';
import { signUpAdmin } from '../../support/admin.js';
import { call, signUp } from '../../support/api.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { postChat, startTestEdge, type TestEdge } from '../../support/edge.js';
import { type OwnTime, ownTime } from '../../support/own-time.js';
import { startTestPlatform, type TestPlatform } from '../../support/platform.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { sized } from '../../support/size.js';

/**
 * Requirement G10, milliseconds from the change's answer to its effect on every edge; beyond what a notification and
 * a look into the same database take just then, which on a busy machine is most of it.
 */
const P99_MS = 250;
const MAX_MS = 1_000;
const REPETITIONS = sized(4, 20);
const MODEL = 'gateway/qwen-pro';

describe('changes of keys, plans and accounts', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let platform: TestPlatform;
  let edges: TestEdge[];
  let admin: string;
  let time: OwnTime;
  let listener: pg.Client;
  beforeAll(async () => {
    time = ownTime();
    db = await createTestDatabase();
    listener = new pg.Client(db.url);
    await listener.connect();
    await listener.query('listen yardstick');
    upstream = await startScriptedUpstream();
    platform = await startTestPlatform(db, {
      env: TEST_SECRETS,
      virtualKeys: { generate: async () => 'sk-virtual-of-the-tests', remove: async () => undefined },
    });
    const options = { upstreamUrl: upstream.url, platformUrl: platform.url };
    edges = [await startTestEdge(db, options), await startTestEdge(db, options)];
    await db.pool.query('update plans set requests_per_minute = 100000');
    admin = (await signUpAdmin({ db, url: platform.url })).token;
  });
  afterAll(async () => {
    time.stop();
    await listener.end();
    for (const edge of edges) await edge.close();
    await platform.close();
    await upstream.close();
    await db.close();
  });

  interface Customer {
    id: string;
    token: string;
    keyId: string;
    key: string;
  }

  /** A customer on the team plan whose key is warm on both edges. */
  const customer = async (): Promise<Customer> => {
    const { token, user } = await signUp(platform.url);
    await patchUser(user.id, { plan: 'team' });
    const made = await call<{ api_key: { id: string }; key: string }>(platform.url, 'POST', '/api/keys', {
      token,
      body: { name: 'warm' },
    });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    return { id: user.id, token, keyId: made.body.api_key.id, key: made.body.key };
  };
  const patchUser = async (id: string, body: object) => {
    const answer = await call(platform.url, 'PATCH', `/api/admin/users/${id}`, { token: admin, body });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  };
  const patchKey =
    (body: object) =>
    async ({ token, keyId }: Customer) => {
      expect((await call(platform.url, 'PATCH', `/api/keys/${keyId}`, { token, body })).status).toBe(200);
    };
  const statusOn = async (edge: TestEdge, { key }: Customer) => {
    const answer = await postChat(edge.url, key, { model: MODEL });
    await answer.arrayBuffer();
    return answer.status;
  };
  const empty = async ({ id }: Customer) => {
    // Without a notification, as a flush leaves it.
    await db.pool.query('update accounts set balance = 0, ledger_seq = ledger_seq + 1 where id = $1', [id]);
  };

  interface Change {
    what: string;
    before: number;
    after: number;
    prepare?(customer: Customer): Promise<void>;
    make(customer: Customer): Promise<void>;
  }
  const changes: Change[] = [
    { what: 'disabling a key', before: 200, after: 401, make: patchKey({ status: 'disabled' }) },
    {
      what: 'enabling a key',
      before: 401,
      after: 200,
      prepare: patchKey({ status: 'disabled' }),
      make: patchKey({ status: 'active' }),
    },
    {
      what: 'deleting a key',
      before: 200,
      after: 401,
      make: async ({ token, keyId }) => {
        expect((await call(platform.url, 'DELETE', `/api/keys/${keyId}`, { token })).status).toBe(204);
      },
    },
    { what: 'a cap', before: 200, after: 402, make: patchKey({ daily_limit_usd: 0 }) },
    { what: 'a plan', before: 200, after: 403, make: ({ id }) => patchUser(id, { plan: 'free' }) },
    {
      what: 'disabling an account',
      before: 200,
      after: 401,
      make: ({ id }) => patchUser(id, { status: 'disabled' }),
    },
    {
      what: 'a top-up',
      before: 402,
      after: 200,
      prepare: empty,
      make: async ({ token }) => {
        const answer = await call(platform.url, 'POST', '/api/billing/topup', {
          token,
          body: { amount_usd: 10 },
        });
        expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      },
    },
  ];

  /** The shortest time that an edge needs at present: for a notification and a query. */
  const yardstick = async (): Promise<number> => {
    const began = time.now();
    const notified = once(listener, 'notification');
    await db.pool.query('notify yardstick');
    await notified;
    await db.pool.query('select from api_keys limit 1');
    return time.now() - began;
  };

  test(`a change is effective on both edges within ${P99_MS} ms at p99 and within ${MAX_MS} ms always`, async () => {
    const times: { what: string; ms: number }[] = [];
    for (const { what, before, after, prepare, make } of changes) {
      for (let i = 0; i < REPETITIONS; i++) {
        const one = await customer();
        await prepare?.(one);
        for (const edge of edges) expect([what, await statusOn(edge, one)]).toEqual([what, before]);
        await make(one);
        const changed = time.now();
        const least = yardstick();
        await Promise.all(
          edges.map(async (edge) => {
            while ((await statusOn(edge, one)) !== after) {
              if (time.now() - changed > 5 * MAX_MS) throw new Error(`${what} is not effective`);
            }
            const ms = time.now() - changed;
            times.push({ what, ms: ms - (await least) });
          }),
        );
        // A change that is effective stays effective.
        for (const edge of edges) expect([what, await statusOn(edge, one)]).toEqual([what, after]);
      }
    }
    times.sort((a, b) => a.ms - b.ms);
    expect(times.length).toBeGreaterThanOrEqual(changes.length * REPETITIONS);
    expect(times.at(-1)!.ms).toBeLessThan(MAX_MS);
    expect(times[Math.floor((times.length - 1) * 0.99)]!.ms).toBeLessThan(P99_MS);
  }, 60_000);
});
