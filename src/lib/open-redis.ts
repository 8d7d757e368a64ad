import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';

const load = createRequire(import.meta.url);

/** The addresses in REDIS_URL: one, or several nodes of a cluster. */
export const redisUrls = (value: string): string[] =>
  value.split(/,(?=\s*rediss?:\/\/)/).map((url) => url.trim());

/**
 * A client of a Redis server. The package is loaded by the first of them: most installations have no Redis, and it takes a
 * tenth of a process's start. Of several nodes it is connected to one, and after a loss to the next: enough for messages,
 * which a cluster passes on to all its nodes.
 */
export function openRedis(value: string, options: RedisOptions): Redis {
  const { Redis: Client } = load('ioredis') as typeof import('ioredis');
  const urls = redisUrls(value);
  const { retryStrategy } = options;
  if (urls.length === 1 || !retryStrategy) return new Client(urls[0]!, options);
  let turn = 0;
  const client: Redis = new Client(urls[0]!, {
    ...options,
    retryStrategy(tries) {
      turn = (turn + 1) % urls.length;
      // The client reads its address at each try.
      const { hostname, port } = new URL(urls[turn]!);
      Object.assign(client.options, { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) });
      return retryStrategy(tries);
    },
  });
  return client;
}
