import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/launcher/ports.js';
import { createTestKey, type TestKey } from '../../support/edge.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { createTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { Journal } from './client.js';
import { type RigPostgres, startRigPostgres } from './postgres.js';
import { type RigProcess, rigProcess } from './processes.js';
import { type Random, seededRandom } from './random.js';
import { type RigUpstream, startRigUpstream } from './upstream.js';

export interface RigOptions {
  /** `scripted`: an upstream in the driver. `proxy`: the product's own model proxy and simulator. */
  upstream?: 'scripted' | 'proxy';
  /** Also the platform and the jobs. */
  whole?: boolean;
  /** More environment for all processes, and for the edge alone. */
  env?: Record<string, string>;
  edgeEnv?: Record<string, string>;
  /** Without the links between them: for load that the driver couldn't carry along. */
  direct?: boolean;
  /** In the address of a server that asks for none. */
  databasePassword?: string;
  /** Newest part of each process's output that is kept. */
  keptOutputBytes?: number;
  /** Dollars of each customer. */
  balance?: string;
}

/** The processes of the product, started alone as in production, with a faulty link between each two. */
export interface Rig {
  readonly random: Random;
  readonly url: string;
  /** Of all processes; the database lies elsewhere. */
  readonly dataDir: string;
  readonly postgres: RigPostgres;
  readonly upstream: RigUpstream;
  readonly edge: RigProcess;
  readonly platform: RigProcess;
  readonly jobs: RigProcess;
  readonly proxy: RigProcess;
  readonly links: { database: TcpProxy; upstream: TcpProxy; platform: TcpProxy };
  readonly journal: Journal;
  /** Accounts on plan `team` with a key each; the plan's limit is out of the way. */
  customers(count: number): Promise<TestKey[]>;
  close(): Promise<void>;
}

/** Starts everything that the options name and waits until it serves. */
export async function startRig(name: string, options: RigOptions = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-rig-'));
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const postgres = await startRigPostgres(folder);
  // 1,000 a minute is the plan's business, not the rig's.
  await postgres.pool.query('update plans set requests_per_minute = 60000');
  const upstream = await startRigUpstream();
  const [edgePort, platformPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const ownProxy = options.upstream === 'proxy';
  const links = {
    database: await createTcpProxy(postgres.port),
    upstream: await createTcpProxy(ownProxy ? proxyPort : upstream.port),
    platform: await createTcpProxy(platformPort),
  };
  const at = (link: TcpProxy, port: number): string =>
    `http://127.0.0.1:${options.direct ? port : link.port}`;
  const databaseUrl = new URL(options.direct ? postgres.url : links.database.urlOf(postgres.url));
  if (options.databasePassword) databaseUrl.password = options.databasePassword;
  const common = {
    PATH: process.env.PATH,
    NODE_ENV: 'development',
    DATABASE_URL: databaseUrl.href,
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env.FAULTS_LOG ?? 'warn',
    PORT: String(edgePort),
    PLATFORM_PORT: String(platformPort),
    PROXY_PORT: String(proxyPort),
    PLATFORM_URL: at(links.platform, platformPort),
    UPSTREAM_URL: at(links.upstream, ownProxy ? proxyPort : upstream.port),
    ...TEST_SECRETS,
    ...options.env,
  };
  const start = (name: Parameters<typeof rigProcess>[0], env: NodeJS.ProcessEnv = common): RigProcess =>
    rigProcess(name, env, options.keptOutputBytes);
  const rig: Rig = {
    random: seededRandom(name),
    url: `http://127.0.0.1:${edgePort}`,
    dataDir,
    postgres,
    upstream,
    edge: start('gateway', { ...common, ...options.edgeEnv }),
    platform: start('platform'),
    jobs: start('jobs'),
    proxy: start('proxy'),
    links,
    journal: new Journal(),
    customers: (count) =>
      Promise.all(
        Array.from({ length: count }, () =>
          createTestKey(
            { pool: postgres.pool },
            // The bundled proxy takes its master key for a virtual one.
            {
              balance: options.balance ?? '1000',
              virtualKey: ownProxy ? TEST_SECRETS.UPSTREAM_MASTER_KEY : undefined,
            },
          ),
        ),
      ),
    async close() {
      for (const link of Object.values(links)) link.restore();
      await Promise.all(
        [rig.edge, rig.platform, rig.jobs, rig.proxy].map((one) => one.running() && one.end('SIGKILL')),
      );
      await upstream.close();
      await postgres.close();
      for (const link of Object.values(links)) await link.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    if (options.whole) await Promise.all([rig.platform.start(), rig.jobs.start()]);
    if (ownProxy) await rig.proxy.start();
    await rig.edge.start();
  } catch (error) {
    await rig.close();
    throw error;
  }
  return rig;
}
