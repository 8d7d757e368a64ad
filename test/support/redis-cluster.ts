import { SLOTS } from '../../src/inference/limits/redis-slots.js';
import { freePort } from './free-port.js';
import { openAmounts } from './redis.js';
import { type RedisServer, redisServer } from './redis-server.js';
import { until } from './until.js';

/** A real cluster of Redis: nodes that share the slots evenly, and copies of the first ones. */
export interface TestRedisCluster {
  /** All nodes, as REDIS_URL names them. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** Of the first nodes, in their order. */
  readonly copies: readonly RedisServer[];
  /** The node that has a slot, as all of them see it. */
  ownerOf(slot: number): Promise<RedisServer>;
  /** Moves a slot with its keys to another node. `halfWay` runs when both have some of it. */
  move(slot: number, to: RedisServer, halfWay?: () => Promise<void>): Promise<void>;
  /** Waits until every node serves. */
  whole(): Promise<void>;
  /** Amounts that stand open, as those of `TestRedis`. */
  open(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** Without an answer for so long, a node counts as lost. A busy machine may keep one for a second. */
const NODE_TIMEOUT_MS = 2_000;

interface Options {
  nodes?: number;
  copies?: number;
}

/** Starts the nodes and makes them one cluster. */
export async function createTestRedisCluster({
  nodes: count = 3,
  copies: copied = 0,
}: Options = {}): Promise<TestRedisCluster> {
  const all = await Promise.all(
    Array.from({ length: count + copied }, async () => {
      const bus = await freePort();
      const options = ['--cluster-enabled', 'yes', '--cluster-port', String(bus)];
      options.push('--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--repl-diskless-sync-delay', '0');
      return { bus, server: await redisServer(options) };
    }),
  );
  const servers = all.map(({ server }) => server);
  const nodes = servers.slice(0, count);
  const idOf = async ({ client }: RedisServer): Promise<string> =>
    String(await client.call('cluster', 'myid'));
  const slotsAt = async ({ client }: RedisServer) =>
    (await client.call('cluster', 'slots')) as [number, number, [string, number]][];
  const whole = async (): Promise<void> => {
    await until(async () => {
      const infos = await Promise.all(servers.map(({ client }) => client.call('cluster', 'info')));
      return infos.every(
        (info) =>
          String(info).includes('cluster_state:ok') &&
          String(info).includes(`cluster_known_nodes:${servers.length}`),
      );
    });
  };
  const cluster: TestRedisCluster = {
    url: servers.map(({ url }) => url).join(','),
    nodes,
    copies: servers.slice(count),
    async ownerOf(slot) {
      return until(async () => {
        const views = await Promise.all(servers.map(slotsAt));
        const ports = views.map(
          (view) => view.find(([first, last]) => first <= slot && slot <= last)?.[2][1],
        );
        return new Set(ports).size === 1 ? servers.find(({ port }) => port === ports[0]) : undefined;
      });
    },
    async move(slot, to, halfWay) {
      const from = await cluster.ownerOf(slot);
      const [source, target] = [await idOf(from), await idOf(to)];
      await to.client.call('cluster', 'setslot', slot, 'importing', source);
      await from.client.call('cluster', 'setslot', slot, 'migrating', target);
      for (;;) {
        const keys = (await from.client.call('cluster', 'getkeysinslot', slot, 1)) as string[];
        if (keys.length === 0) break;
        await from.client.call('migrate', '127.0.0.1', to.port, keys[0]!, 0, 1_000);
        await halfWay?.();
      }
      for (const { client } of [to, from]) await client.call('cluster', 'setslot', slot, 'node', target);
    },
    whole,
    async open() {
      const isOwner = await Promise.all(
        servers.map(async ({ client }) => (await client.info('replication')).includes('role:master')),
      );
      return openAmounts(servers.filter((_server, i) => isOwner[i]).map(({ client }) => client));
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
    await Promise.all(
      nodes.map(async ({ client }, i) => {
        await client.call('cluster', 'set-config-epoch', i + 1);
        const [first, next] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / count)) as [number, number];
        await client.call('cluster', 'addslotsrange', first, next - 1);
      }),
    );
    const [first] = nodes;
    for (const { bus, server } of all.slice(1)) {
      await first!.client.call('cluster', 'meet', '127.0.0.1', server.port, bus);
    }
    for (const [i, { client }] of cluster.copies.entries()) {
      const id = await idOf(nodes[i]!);
      await until(() => client.call('cluster', 'replicate', id).catch(() => undefined), {
        what: 'the copy to know its node',
      });
    }
    await whole();
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}
