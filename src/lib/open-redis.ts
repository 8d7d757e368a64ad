import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';

const load = createRequire(import.meta.url);

/** `maxmemory-policy`, from the section `memory` of INFO, since CONFIG GET is often forbidden. */
export const evictionPolicy = (info: string): string | undefined =>
  /^maxmemory_policy:(\S+)/m.exec(info)?.[1];

/** Why a Redis with this policy is unsuitable for limits; undefined if it is suitable. */
export function evictionFault(policy: string | undefined): string | undefined {
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and forgets what calls hold: set maxmemory-policy to noeviction`;
}

const CHECK_TIMEOUT_MS = 5_000;

/** Why a Redis is unsuitable for limits; undefined if it is suitable. Uses a connection of its own. Never rejects. */
export async function redisFault(url: string): Promise<string | undefined> {
  const redis = openRedis(url, {
    lazyConnect: true,
    connectTimeout: CHECK_TIMEOUT_MS,
    commandTimeout: CHECK_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return evictionFault(evictionPolicy(await redis.info('memory')));
  } catch (error) {
    const { code = (error as Error).message } = error as { code?: string };
    return `Redis can't be asked (${code}): check that it runs, and that REDIS_URL is its address`;
  } finally {
    redis.disconnect();
  }
}

/**
 * Opens a client of a Redis server. Loads the package on first use: it takes a tenth of a process's start, and most installations have
 * no Redis.
 */
export function openRedis(url: string, options: RedisOptions): Redis {
  const { Redis: Client } = load('ioredis') as typeof import('ioredis');
  return new Client(url, options);
}
