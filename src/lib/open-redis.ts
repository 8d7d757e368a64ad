import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';

const load = createRequire(import.meta.url);

/**
 * A client of a Redis server. The package is loaded by the first of them: most installations have no Redis, and it takes a
 * tenth of a process's start.
 */
export function openRedis(url: string, options: RedisOptions): Redis {
  const { Redis: Client } = load('ioredis') as typeof import('ioredis');
  return new Client(url, options);
}
