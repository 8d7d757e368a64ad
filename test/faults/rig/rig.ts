import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestKey, type TestKey, type TestKeyOptions } from '../../support/edge.js';
import { freePort } from '../../support/free-port.js';
import { INHERITED_ENV } from '../../support/inherited-env.js';
import { startPgBouncer, type TestPgBouncer } from '../../support/pgbouncer.js';
import { type ProductEdge, productEdges } from '../../support/product-edges.js';
import { type ProductProcess, productProcess } from '../../support/product-process.js';
import { createTestRedis, type TestRedis } from '../../support/redis.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { createTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { CallIds } from './call-ids.js';
import { Journal } from './client.js';
import { type Front, startFront } from './front.js';
import { type RigPostgres, startRigPostgres } from './postgres.js';
import { type Random, seededRandom } from './random.js';
import { type RigUpstream, startRigUpstream } from './upstream.js';

export interface RigOptions {
  /**
   * `scripted`: an upstream in the driver. `proxy`: the product's own model proxy and simulator. `routed`: the
   * product's model proxy, with the upstream in the driver as its node. `router`: edge and platform route by themselves.
   */
  upstream?: 'scripted' | 'proxy' | 'routed' | 'router';
  /** Several edges are behind a front and share a Redis, unless `redis` is false. */
  edges?: number;
  /** False: only the first of several edges is started, and the test starts the others. */
  redis?: boolean;
  /** Whether the processes reach the database through a PgBouncer. */
  pooler?: boolean;
  /** Also the platform and the jobs. */
  whole?: boolean;
  /** More environment for all processes, and for the edge alone. */
  env?: Record<string, string>;
  edgeEnv?: Record<string, string>;
  /** Whether to leave out the links between them, for load that the driver couldn't carry. */
  direct?: boolean;
  /** How much of each process's latest output to keep. */
  keptOutputBytes?: number;
  /** Dollars of each customer. */
  balance?: string;
  /** Whether plans keep their calls per minute; otherwise their limits are raised out of the way. */
  seededPlans?: boolean;
}

/** The processes of the product, started alone as in production, with a faulty link between each two. */
export interface Rig {
  readonly random: Random;
  /** Where callers go: the edge, or the front before several. */
  readonly url: string;
  /** Of all processes; the database lies elsewhere. */
  readonly dataDir: string;
  readonly postgres: RigPostgres;
  readonly upstream: RigUpstream;
  /** The first of the edges. */
  readonly edge: ProductEdge;
  readonly edges: readonly ProductEdge[];
  /** Before several edges. */
  readonly front: Front | undefined;
  readonly redis: TestRedis | undefined;
  readonly pooler: TestPgBouncer | undefined;
  readonly platform: ProductProcess;
  readonly jobs: ProductProcess;
  readonly proxy: ProductProcess;
  readonly links: { database: TcpProxy; upstream: TcpProxy; platform: TcpProxy };
  readonly journal: Journal;
  /** How often Redis didn't respond to an edge in time, so that edges decided without each other. */
  redisFailures(): Promise<number>;
  /** Where the edges keep their spools, a folder each; all share it. */
  readonly spool: string;
  /** Folders in it, of live edges and of dead ones that nobody has adopted yet. */
  spools(): string[];
  /** Creates accounts with a key each, on plan `team` by default, with a limit out of the way. */
  customers(count: number, options?: TestKeyOptions): Promise<TestKey[]>;
  close(): Promise<void>;
}

/** Starts everything that the options name and waits until it serves. */
export async function startRig(name: string, options: RigOptions = {}): Promise<Rig> {
  const { upstream: kind = 'scripted', edges: count = 1 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-rig-'));
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  const spool = join(dataDir, 'spool');
  mkdirSync(spool, { recursive: true });
  const postgres = await startRigPostgres(folder);
  const ids = new CallIds();
  const upstream = await startRigUpstream((order) => ids.of(order));
  const redis = count > 1 && options.redis !== false ? await createTestRedis() : undefined;
  const [platformPort, proxyPort] = [await freePort(), await freePort()];
  const links = {
    database: await createTcpProxy(postgres.port),
    upstream:
      kind === 'scripted' || kind === 'router'
        ? await createTcpProxy(upstream.port)
        : await createTcpProxy(proxyPort, ids.observe),
    platform: await createTcpProxy(platformPort),
  };
  const at = (link: TcpProxy, port: number): string =>
    `http://127.0.0.1:${options.direct ? port : link.port}`;
  const databaseUrl = options.direct ? postgres.url : links.database.urlOf(postgres.url);
  const pooler = options.pooler
    ? await startPgBouncer(postgres.url, options.direct ? postgres.port : links.database.port)
    : undefined;
  const common = {
    ...INHERITED_ENV,
    NODE_ENV: 'development',
    DATABASE_URL: pooler?.url ?? databaseUrl,
    ...(pooler && { DATABASE_DIRECT_URL: databaseUrl }),
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env.FAULTS_LOG ?? 'warn',
    PASSWORD_HASH_PROFILE: 'test',
    PLATFORM_PORT: String(platformPort),
    PROXY_PORT: String(proxyPort),
    PLATFORM_URL: at(links.platform, platformPort),
    ...(kind !== 'router' && {
      UPSTREAM_URL: at(links.upstream, kind === 'scripted' ? upstream.port : proxyPort),
    }),
    ...(kind === 'routed' && { PROXY_CONFIG: routingTo(upstream.url, folder) }),
    ...TEST_SECRETS,
    ...options.env,
  };
  const start = (
    name: Parameters<typeof productProcess>[0],
    env: NodeJS.ProcessEnv = common,
  ): ProductProcess => productProcess(name, env, options.keptOutputBytes);
  const edges = await productEdges(
    count,
    {
      ...common,
      ...(redis && { REDIS_URL: redis.url }),
      ...options.edgeEnv,
    },
    options.keptOutputBytes,
  );
  const front = count > 1 ? await startFront(edges.map(({ port }) => port)) : undefined;
  const rig: Rig = {
    random: seededRandom(name),
    url: front?.url ?? edges[0]!.url,
    ...{ postgres, upstream, edges, front, redis, pooler, links, spool, dataDir },
    edge: edges[0]!,
    platform: start('platform', {
      ...common,
      ...(redis && { REDIS_URL: redis.url }),
      PORT: String(edges[0]!.port),
    }),
    jobs: start('jobs'),
    proxy: start('proxy'),
    journal: new Journal(),
    async redisFailures() {
      const counts = await Promise.all(edges.map((edge) => edge.metric('gateway_redis_failures_total')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    spools: () => readdirSync(spool).filter((entry) => !entry.startsWith('.')),
    customers: (many, keyOptions) =>
      Promise.all(
        Array.from({ length: many }, () =>
          createTestKey(postgres, {
            balance: options.balance ?? '1000',
            // The product's model proxy accepts its master key as a virtual key.
            virtualKey: kind === 'scripted' ? undefined : TEST_SECRETS.UPSTREAM_MASTER_KEY,
            ...keyOptions,
          }),
        ),
      ),
    async close() {
      for (const link of Object.values(links)) link.restore();
      const processes = [...edges, rig.platform, rig.jobs, rig.proxy];
      await Promise.all(processes.map((one) => one.running() && one.end('SIGKILL')));
      await front?.close();
      await redis?.close();
      await pooler?.close();
      await upstream.close();
      await postgres.close();
      for (const link of Object.values(links)) await link.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    if (options.whole) await Promise.all([rig.platform.start(), rig.jobs.start()]);
    // 1,000 a minute is the plan's business, not the rig's. The platform's seed would set it back.
    if (!options.seededPlans) await postgres.pool.query('update plans set requests_per_minute = 60000');
    if (kind === 'proxy' || kind === 'routed') await rig.proxy.start();
    await Promise.all((redis ? edges : edges.slice(0, 1)).map((edge) => edge.start()));
  } catch (error) {
    await rig.close();
    throw error;
  }
  return rig;
}

/** Writes a routing file with the driver's upstream as the only node, which never cools down, since its faults are intended. */
function routingTo(url: string, folder: string): string {
  const path = join(folder, 'routing.json');
  const routing = {
    model_list: [
      {
        model_name: 'gateway/fast',
        litellm_params: {
          model: 'openai/scripted',
          api_base: `${url}/v1`,
          input_cost_per_token: 1e-7,
          output_cost_per_token: 3e-7,
        },
        model_info: { id: 'scripted' },
      },
    ],
    router_settings: { num_retries: 0, allowed_fails: 1_000 },
  };
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(routing));
  return path;
}
