import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PASSWORD, type SessionAnswer } from './api.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { INHERITED_ENV } from './inherited-env.js';
import { metricOf } from './metric.js';
import { freePorts } from './product-edges.js';
import { type ProductProcess, productProcess } from './product-process.js';
import { HEARTBEAT_SECRET, TEST_SECRETS } from './secrets.js';
import { type StackCallers, stackCallers } from './stack-callers.js';
import { until } from './until.js';

export interface ProductOptions {
  /** Variables of all processes, overriding those of the tests. */
  env?: Record<string, string>;
}

/** Edge, platform and jobs, each a process of `dist/`, with one database. Edge and platform each have a simulator. */
export interface RunningProduct extends StackCallers {
  /** The edge's address, which is the public one. */
  url: string;
  db: TestDatabase;
  /** Waits until every answered call is committed. */
  settled(): Promise<void>;
  /** Kills a process, runs something without it, and restarts it. */
  without(name: ProductProcess['name'], act: () => Promise<void>): Promise<void>;
  /** @throws Error with the output of each process that has ended. */
  expectRunning(): void;
  stop(): Promise<void>;
}

/** Starts all processes at once, which takes a second or three, and waits until they serve. */
export async function startProduct({ env }: ProductOptions = {}): Promise<RunningProduct> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-running-'));
  chmodSync(folder, 0o755);
  const db = await createTestDatabase();
  const [port, platformPort, metricsPort] = await freePorts(3);
  const url = `http://127.0.0.1:${port}`;
  const adminEmail = `${randomUUID()}@example.com`;
  const common = {
    ...INHERITED_ENV,
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: db.url,
    DATA_DIR: join(folder, 'data'),
    PORT: String(port),
    PUBLIC_BASE_URL: url,
    PLATFORM_PORT: String(platformPort),
    PLATFORM_URL: `http://127.0.0.1:${platformPort}`,
    PROXY_CONFIG: patientRouting(folder),
    ADMIN_EMAIL: adminEmail,
    ADMIN_PASSWORD: PASSWORD,
    ...TEST_SECRETS,
    GPU_HEARTBEAT_SECRET: HEARTBEAT_SECRET,
    ...env,
  };
  const processes = [
    productProcess('gateway', { ...common, METRICS_PORT: String(metricsPort) }),
    productProcess('platform', common),
    // The tests' receivers are on this machine; subscriptions still reject such an address.
    productProcess('jobs', { ...common, WEBHOOK_ALLOW_PRIVATE: '1' }),
  ];
  const callers = stackCallers(url, async (api) => {
    const credentials = { email: adminEmail, password: PASSWORD };
    return (await api<SessionAnswer>('', 'POST', '/api/auth/login', credentials)).access_token;
  });

  const product: RunningProduct = {
    url,
    db,
    ...callers,
    async settled() {
      const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
      await until(async () => (await metricOf(metrics, 'metering_spool_events')) === 0, {
        what: 'the spool to be empty',
      });
    },
    async without(name, act) {
      const one = processes.find((process) => process.name === name)!;
      await one.end('SIGKILL');
      try {
        await act();
      } finally {
        await one.start();
        one.leaveBehind();
      }
    },
    expectRunning() {
      const ended = processes.filter((one) => !one.running());
      if (ended.length === 0) return;
      throw new Error(ended.map((one) => `${one.name} has ended:\n${one.output()}`).join('\n'));
    },
    async stop() {
      await Promise.all(processes.map((one) => endOf(one)));
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(processes.map((one) => one.start()));
  } catch (error) {
    await product.stop();
    throw error;
  }
  for (const one of processes) one.leaveBehind();
  return product;
}

/** No test looks at how it ends; only a run with coverage waits for its output. */
const endOf = async (one: ProductProcess): Promise<unknown> =>
  one.running() && one.end(process.env.NODE_V8_COVERAGE ? 'SIGTERM' : 'SIGKILL');

/**
 * The routing of the checkout. Tests break calls on purpose, which must not take long, or make a deployment cool down that the
 * next call needs.
 */
function patientRouting(folder: string): string {
  const path = join(folder, 'routing.json');
  const routing = parse(readFileSync('proxy.config.yaml', 'utf8')) as {
    router_settings: Record<string, unknown>;
  };
  Object.assign(routing.router_settings, { retry_after: 0.02, allowed_fails: 1_000, cooldown_time: 0 });
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(routing));
  return path;
}
