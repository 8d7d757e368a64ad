import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';
import { until } from './until.js';

/** One Redis process without persistence, which is empty after a restart. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** The test's client. */
  readonly client: Redis;
  pid(): number;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Until `thaw`, it accepts connections and doesn't respond. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** Path of Redis or Valkey, if installed. */
export const redisBinary = ['redis-server', 'valkey-server']
  .flatMap((name) => (process.env.PATH ?? '').split(':').map((folder) => join(folder, name)))
  .concat('/usr/bin/redis-server')
  .find((path) => existsSync(path));

/** Prepares a server on a free port of loopback, with additional command line options. */
export async function redisServer(options: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let process: ChildProcess | undefined;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const server: RedisServer = {
    ...{ port, url, client },
    pid: () => process!.pid!,
    async start() {
      const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      process = spawn(redisBinary!, [...own, ...options, '--dir', folder, '--daemonize', 'no'], {
        stdio: 'ignore',
      });
      if (client.status === 'wait') await client.connect().catch(() => undefined);
      await until(() => client.ping().catch(() => undefined), { what: 'Redis to answer' });
    },
    async kill() {
      const dying = process!;
      dying.kill('SIGKILL');
      await until(() => dying.signalCode !== null, { what: 'Redis to be dead' });
    },
    freeze: () => void process!.kill('SIGSTOP'),
    thaw: () => void process!.kill('SIGCONT'),
    async close() {
      client.disconnect();
      if (process && process.exitCode === null && process.signalCode === null) {
        process.kill('SIGCONT');
        await server.kill();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}
