import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { commandLineContext, runCommand, UsageError } from '../../src/cli/admin/commands.js';
import { newId } from '../../src/lib/ids.js';
import type { JobOutput, RoutedModelOutput } from '../../src/services/admin/admin.outputs.js';
import { routedOf, routingView } from '../../src/services/admin/routing.js';
import { dataOf } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestDatabase } from '../support/database.js';
import { inDist } from '../support/dist.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { usePlatform } from '../support/platform-suite.js';
import { useProduct } from '../support/product-suite.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { TEST_SECRETS } from '../support/secrets.js';

describe('running the product', () => {
  const suite = useProduct();
  let token = '';
  beforeAll(async () => {
    token = (await signUpAdmin(suite)).token;
  });
  const get = async <T>(path: string) =>
    (await call<T>(suite.url, 'GET', `/api/admin/${path}`, { token })).body;

  test('administrators see where calls go, and that the prices match', async () => {
    const routing = await get<RoutedModelOutput[]>('routing');
    expect(routing.map((model) => model.model_public_name)).toContain('gateway/fast');
    for (const { deployments } of routing) {
      expect(deployments).not.toEqual([]);
      for (const deployment of deployments) {
        expect(deployment).toMatchObject({
          status: 'serving',
          takes_calls: 'yes',
          parked_until: null,
          price_matches: true,
        });
      }
    }
    expect(JSON.stringify(routing)).not.toMatch(/127\.0\.0\.1|http/);
    const { routing: overGraphql } = await dataOf<{ routing: { deployments: object[] }[] }>(
      suite.url,
      '{ routing { modelPublicName fallbacks deployments { id takesCalls priceMatches } } }',
      { token },
    );
    expect(overGraphql).toHaveLength(routing.length);
  });

  test('administrators see the schedule', async () => {
    const jobs = await get<JobOutput[]>('jobs');
    const { scheduledJobs } = await dataOf<{ scheduledJobs: { name: string }[] }>(
      suite.url,
      '{ scheduledJobs { name nextRunAt failures } }',
      { token },
    );
    expect(scheduledJobs.map(({ name }) => name)).toEqual(jobs.map(({ name }) => name));
  });
});

describe('without a model proxy', () => {
  const suite = usePlatform();

  test('the routing returns 503', async () => {
    const { token } = await signUpAdmin(suite);
    const answer = await call<ErrorAnswer>(suite.url, 'GET', '/api/admin/routing', { token });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'service_unavailable']);
  });
});

describeWithRedis('with a Redis that evicts keys', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  });
  afterAll(() => redis.close());
  const suite = usePlatform(() => ({ env: { REDIS_URL: redis.url } }));

  test('administrators see a warning until the problem is fixed', async () => {
    const { token } = await signUpAdmin(suite);
    const warnings = async (): Promise<string[]> => {
      const { body } = await call<{ message: string }[]>(suite.url, 'GET', '/api/admin/warnings', { token });
      const query = '{ installationWarnings { message } }';
      const answer = await dataOf<{ installationWarnings: typeof body }>(suite.url, query, { token });
      expect(answer.installationWarnings).toEqual(body);
      return body.map(({ message }) => message);
    };
    expect(await warnings()).toEqual([
      expect.stringMatching(/maxmemory-policy allkeys-lru.*set maxmemory-policy to noeviction/),
    ]);
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await warnings()).toEqual([]);
    await redis.kill();
    expect(await warnings()).toEqual([expect.stringMatching(/Redis can't be asked.*REDIS_URL/)]);
  });
});

describe('the routing view', () => {
  const MODEL = {
    model_public_name: 'gateway/fast',
    input_price_per_million_usd: '0.100000',
    output_price_per_million_usd: '0.300000',
  };
  const reported = (input: number, output: number, more = {}) => ({
    model_name: 'gateway/fast',
    model_info: { id: 'n1', input_cost_per_token: input, output_cost_per_token: output },
    ...more,
  });
  const view = (one: ReturnType<typeof reported>) =>
    routingView([routedOf(one)], [MODEL] as never, Date.UTC(2026, 0, 1))[0]!.deployments[0]!;

  test.each([
    [1e-7, 3e-7, true],
    [1e-7, 3.000001e-7, false],
    [2e-7, 3e-7, false],
  ])('compares %d and %d per token exactly', (input, output, matches) => {
    expect(view(reported(input, output)).price_matches).toBe(matches);
  });

  test("shows until when a deployment is parked, and nothing that a proxy doesn't report", () => {
    const parked = { status: 'parked', parked_for_seconds: 60, last_failure: 'ECONNREFUSED' };
    expect(view(reported(1e-7, 3e-7, parked))).toMatchObject({
      status: 'parked',
      last_failure: 'ECONNREFUSED',
      parked_until: '2026-01-01T00:01:00.000000Z',
      parked_for_seconds: 60,
    });
    expect(view(reported(1e-7, 3e-7, { status: 'serving', parked_for_seconds: 0 }))).toMatchObject({
      parked_until: null,
      parked_for_seconds: null,
    });
    expect(view(reported(1e-7, 3e-7))).toMatchObject({
      status: null,
      takes_calls: null,
      parked_until: null,
      parked_for_seconds: null,
    });
  });
});

describe('npm run admin', () => {
  const suite = usePlatform();
  /** As a process: what it prints, and how it ends. */
  const start = (...args: string[]) => startWith({}, ...args);
  const startWith = (more: Record<string, string>, ...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      const own = { NODE_ENV: 'test', DATABASE_URL: suite.db.url, ...TEST_SECRETS };
      const env = { ...INHERITED_ENV, ...own, ...more };
      execFile(process.execPath, [inDist('cli/admin.js'), ...args], { env }, (error, out, err) =>
        done({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  /** What such a process runs, without its start. */
  const run = (...args: string[]) =>
    runCommand(commandLineContext(suite.db.orm), suite.platform.config, args);

  test('changes an account, adjusts its credit, and records who did it', async () => {
    const email = `${randomUUID()}@example.com`;
    const { user } = await signUp(suite.url, { email });
    const changed = await start('user', email, 'plan=pro');
    expect([changed.code, JSON.parse(changed.out)]).toMatchObject([0, { id: user.id, plan_id: 'pro' }]);
    expect(await run('credit', user.id, 'amount_usd=-1', 'reason=Refund of 2 May')).toMatchObject({
      balance_usd: '25.000000',
    });
    expect(await run('actions', `subject_id=${user.id}`)).toMatchObject([
      { action: 'account.adjust_credit', source: 'command_line', actor_id: null, reason: 'Refund of 2 May' },
      { action: 'account.update', source: 'command_line', actor_id: null },
    ]);
  });

  test('finds an account by its address, however many newer ones contain it', async () => {
    const db = await createTestDatabase();
    const id = newId();
    await db.pool.query(
      `insert into accounts (id, email, email_key, name, created_at)
       values ($1, 'Ada@example.com', 'ada@example.com', 'Ada', now() - interval '1 day')`,
      [id],
    );
    await db.pool.query(
      `insert into accounts (id, name, created_at)
       select gen_random_uuid(), 'not ada@example.com', now() from generate_series(1, 500)`,
    );
    const asked = runCommand(commandLineContext(db.orm), suite.platform.config, ['user', 'ada@Example.com']);
    expect(await asked).toMatchObject({ id, email: 'Ada@example.com' });
    await db.close();
  });

  test('registers, drains and deletes a node', async () => {
    const words = { name: 'cli', provider: 'own', region: 'eu', gpu_type: 'L4', hourly_cost_usd: '0.5' };
    const { id } = (await run(
      'register-node',
      ...Object.entries(words).map(([name, value]) => `${name}=${value}`),
      'endpoint_url=http://10.9.9.9:8000',
    )) as { id: string };
    expect(await run('node', id, 'status=draining')).toMatchObject({ status: 'draining' });
    expect(await run('delete-node', id)).toBeUndefined();
    expect(await start('node', id)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^admin: ./),
    });
  });

  test('explains what is wrong, and how it is used', async () => {
    const { code, out, err } = await start('dance');
    expect([code, out, err]).toEqual([78, '', expect.stringContaining('admin: there is no command dance')]);
    expect(err).toContain('Usage:');
  });

  test('shows the routing of the file, and of a model proxy only if it finds one', async () => {
    const { code, out } = await startWith({}, 'routing');
    expect(code).toBe(0);
    expect((JSON.parse(out) as RoutedModelOutput[]).map((model) => model.model_public_name)).toContain(
      'gateway/fast',
    );
    expect(await startWith({ UPSTREAM_URL: 'http://127.0.0.1:1' }, 'routing')).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining('Check that it runs, and that UPSTREAM_URL is its address.'),
    });
  });

  test.each([
    [[], 'name a command'],
    [['user', 'nobody@example.com'], 'no account has the email address'],
    [['credit', 'nobody'], 'no account'],
    [['users', 'limit=0'], 'limit must be a whole number from 1 to 500'],
    [['users', 'colour=red'], 'colour is not a known field'],
    [['credit', randomUUID(), 'amount_usd=x'], 'reason is required'],
    [['register-node', 'name=a', 'hourly_cost_usd=-1'], 'hourly_cost_usd must'],
    [['register-node', 'name=a', 'hourly_cost_usd=-1'], 'provider is required; region is required'],
    [['users', 'everyone'], 'is not NAME=VALUE'],
  ])('explains what is wrong with %j', async (args, words) => {
    const error = await run(...args).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(words);
    expect((error as Error).message).not.toMatch(/Invalid input|Too (big|small)|Unrecognized/);
  });
});
