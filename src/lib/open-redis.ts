import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';

const load = createRequire(import.meta.url);

/** `maxmemory-policy`, out of the section `memory` of INFO. CONFIG GET is often forbidden. */
export const evictionPolicy = (info: string): string | undefined =>
  /^maxmemory_policy:(\S+)/m.exec(info)?.[1];

/** Why a Redis with this policy isn't fit for limits; undefined if it is. */
export function evictionFault(policy: string | undefined): string | undefined {
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and forgets what calls hold: set maxmemory-policy to noeviction`;
}

/**
 * A client of a Redis server. The package is loaded by the first of them: most installations have no Redis, and it takes a
 * tenth of a process's start.
 */
export function openRedis(url: string, options: RedisOptions): Redis {
  const { Redis: Client } = load('ioredis') as typeof import('ioredis');
  return new Client(url, options);
}
