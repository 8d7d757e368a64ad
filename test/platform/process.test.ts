import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inDist } from '../support/dist.js';
import { freePort } from '../support/free-port.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

const MAIN = inDist('platform/main.js');

const ADMIN = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'the password of root' };

interface Started {
  child: ChildProcess;
  /** What it says once it serves. */
  ready: Promise<{ type: string; url: string }>;
}

describe('the platform process', () => {
  let db: TestDatabase;
  const children: ChildProcess[] = [];
  /** Started together; the first one serves two tests, the second of which ends it. */
  let serving: Started;
  let orphan: Started;
  let metricsPort: number;
  beforeAll(async () => {
    db = await createTestDatabase();
    metricsPort = await freePort();
    serving = start({ ...ADMIN, METRICS_PORT: String(metricsPort) });
    orphan = start();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await db.close();
  });

  const environment = (): NodeJS.ProcessEnv => ({
    ...INHERITED_ENV,
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    PASSWORD_HASH_PROFILE: 'test',
    DATABASE_URL: db.url,
    UPSTREAM_URL: 'http://127.0.0.1:9',
    ...TEST_SECRETS,
  });

  const start = (env: Record<string, string> = {}): Started => {
    const child = fork(MAIN, {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...environment(), ...env },
    });
    children.push(child);
    const ready = once(child, 'message').then(([message]) => message as { type: string; url: string });
    return { child, ready };
  };
  const end = async (child: ChildProcess): Promise<unknown[]> => once(child, 'exit');

  test("isn't ready on either port while the database refuses it, and is ready again afterwards", async () => {
    // The other one migrates at its start: it is not to meet the table under its other name.
    const [{ url }] = await Promise.all([serving.ready, orphan.ready]);
    const both = async () => [
      (await call(url, 'GET', '/health/ready')).status,
      (await call(`http://127.0.0.1:${metricsPort}`, 'GET', '/health/ready')).status,
    ];
    const bothSay = (status: number) =>
      until(async () => (await both()).every((found) => found === status), { what: `${status} on both` });
    await bothSay(200);
    await db.pool.query('alter table mikro_orm_migrations rename to away');
    await bothSay(503);
    await db.pool.query('alter table away rename to mikro_orm_migrations');
    await bothSay(200);
  });

  test('reports that it is ready, serves, and ends orderly on SIGTERM', async () => {
    const { child, ready } = serving;
    const { type, url } = await ready;
    expect(type).toBe('ready');
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const { token } = await signUp(url);
    expect((await call(url, 'GET', '/api/auth/me', { token })).status).toBe(200);
    expect((await call(url, 'GET', '/health/ready')).body).toEqual({ status: 'ok' });
    const admin = { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD };
    expect((await call(url, 'POST', '/api/auth/login', { body: admin })).status).toBe(200);
    const ended = end(child);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('ends when the launcher that started it is gone', async () => {
    const { child, ready } = orphan;
    expect((await ready).type).toBe('ready');
    const ended = end(child);
    child.disconnect();
    expect(await ended).toEqual([0, null]);
  });

  test('says when it starts that top-ups are off', async () => {
    const child = fork(MAIN, {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      env: { ...environment(), TOPUP: 'off', LOG_LEVEL: 'info' },
    });
    children.push(child);
    let output = '';
    child.stdout!.on('data', (chunk) => (output += chunk));
    await until(() => output.includes('top-ups are off: only administrators add credit (TOPUP=off)'));
  });

  test('ends with one line and code 1 when its start fails', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const child = fork(MAIN, {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...environment(), METRICS_PORT: String(port) },
    });
    children.push(child);
    let errors = '';
    child.stderr!.on('data', (chunk) => (errors += chunk));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(errors).toBe(
      `platform: can't start: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
    );
    await new Promise((done) => other.close(done));
  });
});
