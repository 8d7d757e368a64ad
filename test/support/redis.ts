import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';
import { until } from './until.js';

/** A real Redis of the test file's own, without persistence: killed and started again it is empty. */
export interface TestRedis {
  readonly url: string;
  /** The test's own view of it. */
  readonly client: Redis;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** It takes connections and answers nothing, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Amounts that stand open, over all accounts and keys: "<key> h:<edge>" (holds) and "<key> c:<edge>" (charges) → units. */
  open(): Promise<Record<string, string>>;
  /** What edges have left behind with an account that no other edge has used yet. */
  leave(
    accountId: string,
    balance: bigint,
    edges: Record<string, { holds: bigint; charges: bigint }>,
  ): Promise<void>;
  close(): Promise<void>;
}

const BINARY = ['redis-server', 'valkey-server']
  .flatMap((name) => (process.env.PATH ?? '').split(':').map((folder) => join(folder, name)))
  .concat('/usr/bin/redis-server')
  .find((path) => existsSync(path));

/** `describe` where there is a Redis to test with. CI must have one; elsewhere its absence is said aloud. */
export function describeWithRedis(name: string, body: () => void): void {
  if (BINARY) {
    describe(name, body);
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error('redis-server is missing: install it (apt-get install redis-server)');
    });
  } else {
    process.stderr.write(`SKIPPED, redis-server is missing (apt-get install redis-server): ${name}\n`);
    describe.skip(name, body);
  }
}

/** `cluster`: the only node of one, so that a script is confined to keys of one hash tag. */
export async function createTestRedis({ cluster = false } = {}): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const redis: TestRedis = {
    url,
    client,
    async start() {
      const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      if (cluster) options.push('--cluster-enabled', 'yes');
      server = spawn(BINARY!, [...options, '--dir', folder, '--daemonize', 'no'], { stdio: 'ignore' });
      if (client.status === 'wait') await client.connect().catch(() => undefined);
      await until(() => client.ping().catch(() => undefined), { what: 'Redis to answer' });
      if (!cluster) return;
      await client.call('cluster', 'addslotsrange', 0, 16_383);
      await until(async () => String(await client.call('cluster', 'info')).includes('cluster_state:ok'));
    },
    async kill() {
      const dying = server!;
      dying.kill('SIGKILL');
      await until(() => dying.signalCode !== null, { what: 'Redis to be dead' });
    },
    freeze: () => void server!.kill('SIGSTOP'),
    thaw: () => void server!.kill('SIGCONT'),
    async open() {
      const found: Record<string, string> = {};
      for (const key of await client.keys('gw:{*')) {
        if ((await client.type(key)) !== 'string') continue;
        const [, ...edges] = (await client.get(key))!.split(';');
        for (const edge of edges) {
          const [id, , holds, charges] = edge.split(' ');
          if (holds && holds !== '0') found[`${key} h:${id}`] = holds;
          if (charges && charges !== '0') found[`${key} c:${id}`] = charges;
        }
      }
      return found;
    },
    async leave(accountId, balance, edges) {
      const all = Object.entries(edges);
      const sum = (name: 'holds' | 'charges') => all.reduce((total, [, each]) => total + each[name], 0n);
      const texts = all.map(([id, { holds, charges }]) => `;${id} 1 ${holds} ${charges}`);
      const text = `${balance} 0 ${sum('holds')} ${sum('charges')} - - -${texts.join('')}`;
      await client.set(`gw:{${accountId}}:balance`, text);
    },
    async close() {
      client.disconnect();
      if (server && server.exitCode === null && server.signalCode === null) {
        server.kill('SIGCONT');
        await redis.kill();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}
