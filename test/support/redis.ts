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
  /** Amounts that stand open, over all accounts and keys: field → units. */
  open(): Promise<Record<string, string>>;
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

export async function createTestRedis(): Promise<TestRedis> {
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
      server = spawn(BINARY!, [...options, '--dir', folder, '--daemonize', 'no'], { stdio: 'ignore' });
      if (client.status === 'wait') await client.connect().catch(() => undefined);
      await until(() => client.ping().catch(() => undefined), { what: 'Redis to answer' });
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
        if ((await client.type(key)) !== 'hash') continue;
        for (const [field, value] of Object.entries(await client.hgetall(key))) {
          if (/^[hc]:/.test(field)) found[`${key} ${field}`] = value;
        }
      }
      return found;
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
