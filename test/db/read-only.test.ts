import { join } from 'node:path';
import pg from 'pg';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { type OwnServer, startOwnServer } from '../support/own-server.js';
import { freePorts } from '../support/product-edges.js';
import { type ProductProcess, productProcess } from '../support/product-process.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

const LASTING = ['gateway-edge', 'gateway-edge-lock', 'gateway-listen', 'gateway-platform'];

/** A primary that an operator or its storage has made read-only, and that keeps its connections. */
describe('a database that takes no writes', () => {
  let own: OwnServer;
  let watcher: pg.Client;
  let processes: ProductProcess[] = [];
  let url: string;
  let addresses: string[];
  let token: string;
  let key: string;
  beforeAll(async () => {
    own = await startOwnServer();
    watcher = new pg.Client({ connectionString: own.url });
    await watcher.connect();
    const [port, platformPort, edgeMetrics] = await freePorts(3);
    url = `http://127.0.0.1:${port}`;
    const env = {
      ...INHERITED_ENV,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      DATABASE_URL: own.url,
      DATA_DIR: join(own.folder, 'data'),
      PORT: String(port),
      PUBLIC_BASE_URL: url,
      PLATFORM_PORT: String(platformPort),
      PLATFORM_URL: `http://127.0.0.1:${platformPort}`,
      PASSWORD_HASH_PROFILE: 'test',
      ...TEST_SECRETS,
    };
    addresses = [`http://127.0.0.1:${platformPort}`, `http://127.0.0.1:${edgeMetrics}`];
    processes = [
      productProcess('platform', env),
      productProcess('jobs', env),
      productProcess('gateway', { ...env, METRICS_PORT: String(edgeMetrics) }),
    ];
    await Promise.all(processes.map((one) => one.start()));
    ({ token } = await signUp(url));
    const made = await call<{ key: string }>(url, 'POST', '/api/keys', { token, body: { name: 'first' } });
    key = made.body.key;
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.running() && one.end('SIGKILL')));
    await watcher?.end();
    await own?.close();
  });

  const topUp = () =>
    call<ErrorAnswer>(url, 'POST', '/api/billing/topup', { token, body: { amount_usd: 10 } });
  const chat = () =>
    call(url, 'POST', '/v1/chat/completions', {
      token: key,
      body: { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hello' }] },
    });
  const readiness = () =>
    Promise.all(addresses.map(async (address) => (await call(address, 'GET', '/health/ready')).status));
  const sessions = async (): Promise<Map<number, string>> => {
    const { rows } = await watcher.query<{ pid: number; name: string }>(
      `select pid, application_name as name from pg_stat_activity where application_name like 'gateway-%'`,
    );
    return new Map(rows.map(({ pid, name }) => [pid, name]));
  };
  const namesOf = (found: Map<number, string>): string[] => [...new Set(found.values())].sort();
  const recorded = async (): Promise<number> =>
    Number((await watcher.query('select count(*) from usage_events')).rows[0].count);

  test('is an outage: 503 and not ready, every connection is closed, and all of it heals by itself', async () => {
    expect((await chat()).status).toBe(200);
    await until(async () => (await recorded()) === 1, { what: 'the first call to be recorded' });
    const before = await sessions();
    expect(namesOf(before)).toEqual(expect.arrayContaining(LASTING));

    await own.tell('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
    // The edge is ready for as long as it can serve calls, as in every outage.
    await until(async () => (await readiness())[0] === 503, { what: 'the platform not to be ready' });
    // The edge knows key and balance for a minute, and keeps the usage on its disk.
    expect((await chat()).status).toBe(200);
    for (const refused of await Promise.all(Array.from({ length: 5 }, topUp))) {
      expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await until(async () => [...(await sessions()).keys()].every((pid) => !before.has(pid)), {
      what: 'the end of all former sessions',
    });
    expect(await recorded()).toBe(1);

    await own.tell('alter system reset default_transaction_read_only', 'select pg_reload_conf()');
    await until(async () => (await topUp()).status === 200, { what: 'a top-up' });
    await until(async () => (await recorded()) === 2, { what: 'the second call to be recorded' });
    await until(async () => (await readiness()).every((status) => status === 200), { what: 'readiness' });
    await until(async () => namesOf(await sessions()).includes('gateway-edge-lock'), { what: 'the lock' });
    expect(processes.every((one) => one.running())).toBe(true);
  });
});
