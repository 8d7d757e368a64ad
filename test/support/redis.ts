import { describeWith } from './describe-with.js';
import { type RedisServer, redisBinary, redisServer } from './redis-server.js';

/** A real Redis for the test file. */
export interface TestRedis extends RedisServer {
  /** Open amounts over all accounts and keys: "<key> h:<edge>" (holds) and "<key> c:<edge>" (charges) → units. */
  open(): Promise<Record<string, string>>;
  /** Amounts that edges left behind in accounts that no other edge has used yet. */
  leave(
    accountId: string,
    balance: bigint,
    edges: Record<string, { holds: bigint; charges: bigint }>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** `describe` if Redis is installed. */
export const describeWithRedis = (name: string, body: () => void): void =>
  describeWith('redis-server', redisBinary, name, body);

/** Starts a Redis. */
export async function createTestRedis(): Promise<TestRedis> {
  const server = await redisServer([]);
  const { client } = server;
  const redis: TestRedis = {
    ...server,
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
  };
  await redis.start();
  return redis;
}
