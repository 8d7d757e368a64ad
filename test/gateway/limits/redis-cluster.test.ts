import { RedisLink, RedisUnavailableError } from '../../../src/inference/limits/redis-link.js';
import { SLOTS, slotOf } from '../../../src/inference/limits/redis-slots.js';
import { newId } from '../../../src/lib/ids.js';
import { describeWithRedis } from '../../support/redis.js';
import { createTestRedisCluster, type TestRedisCluster } from '../../support/redis-cluster.js';
import { type RedisServer, redisServer } from '../../support/redis-server.js';
import { expectOneCallTooMuchAtMost, lossOf, spendTogether } from '../../support/spending-edges.js';
import { until } from '../../support/until.js';

const MOVES = 6;

/** Waits until a node says this of its replication. */
const replication = ({ client }: RedisServer, says: string): Promise<boolean> =>
  until(async () => (await client.info('replication')).includes(says));

describeWithRedis('two edges over a cluster of three nodes and a copy', () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await createTestRedisCluster({ copies: 1 });
  });
  afterAll(() => cluster.close());

  /** An account whose keys lie on the nth node, as the slots were shared out. */
  function accountAt(nth: number): { accountId: string; slot: number } {
    for (;;) {
      const accountId = newId();
      const slot = slotOf(`gw:{${accountId}}:balance`);
      if (Math.floor((slot * cluster.nodes.length) / SLOTS) === nth) return { accountId, slot };
    }
  }

  /** How often nodes sent a command elsewhere. */
  async function redirects(): Promise<number> {
    const stats = await Promise.all(cluster.nodes.map(({ client }) => client.info('errorstats')));
    const counts = stats.flatMap((text) => [...text.matchAll(/errorstat_(?:ASK|MOVED):count=(\d+)/g)]);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test('find the slot of a key as the cluster does', async () => {
    const keys = ['gw:edges', `gw:{${newId()}}:rate`, 'a{}b', 'a{b}c{d}', '{', '}{', 'x', ''];
    const [{ client }] = cluster.nodes as [RedisServer];
    const expected = await Promise.all(keys.map((key) => client.call('cluster', 'keyslot', key)));
    expect(keys.map(slotOf)).toEqual(expected);
  });

  test('keep every amount right while the slot of the account moves from node to node', async () => {
    const { accountId, slot } = accountAt(1);
    const before = await redirects();
    const spent = await spendTogether(
      cluster,
      async () => {
        for (let i = 0; i < MOVES; i++) {
          const known = await redirects();
          await cluster.move(slot, cluster.nodes[(i + 2) % 3]!, async () => {
            // Calls meet the slot while it is on its way, if there are any just now.
            const met = until(async () => (await redirects()) > known, { timeoutMs: 40, intervalMs: 1 });
            await met.catch(() => undefined);
          });
          await cluster.ownerOf(slot);
        }
      },
      accountId,
    );
    expectOneCallTooMuchAtMost(spent);
    expect(await redirects()).toBeGreaterThan(before);
  }, 60_000);

  test('lose a node that comes back empty: nothing hangs, they agree again, and spend one call too much at most', async () => {
    const { accountId } = accountAt(2);
    const lost = cluster.nodes[2]!;
    const spent = await spendTogether(
      cluster,
      lossOf(async () => {
        await lost.kill();
        await lost.start();
        await cluster.whole();
      }),
      accountId,
    );
    expectOneCallTooMuchAtMost(spent);
  }, 60_000);

  test('lose a node to its copy, and the frozen node wakes up: the same', async () => {
    const { accountId, slot } = accountAt(0);
    const [lost, copy] = [cluster.nodes[0]!, cluster.copies[0]!];
    await replication(copy, 'master_link_status:up');
    const spent = await spendTogether(
      { url: cluster.url, open: () => cluster.open() },
      lossOf(async () => {
        lost.freeze();
        await replication(copy, 'role:master');
        lost.thaw();
        await cluster.whole();
        expect(await cluster.ownerOf(slot)).toBe(copy);
      }),
      accountId,
    );
    expectOneCallTooMuchAtMost(spent);
  }, 60_000);

  test('say everything again when a copy has taken slots over, whoever hears of it first', async () => {
    const { slot, accountId } = accountAt(0);
    const [owner, copy] = [cluster.copies[0]!, cluster.nodes[0]!];
    await replication(copy, 'master_link_status:up');
    expect(await cluster.ownerOf(slot)).toBe(owner);
    const counts = { ready: 0, lost: 0 };
    const link = new RedisLink({
      url: cluster.url,
      onReady: () => void counts.ready++,
      onMisconfigured: () => undefined,
      onLost: () => void counts.lost++,
    });
    await until(() => counts.ready === 1);
    const ask = () => link.run('bury', [`gw:{${accountId}}:asked`], [0], undefined, 1_000);
    expect(await ask()).toBe(1);
    await copy.client.call('cluster', 'failover', 'takeover');
    await replication(owner, 'role:slave');
    // By way of a call, not by a heartbeat: there is none here.
    await expect(ask()).rejects.toThrow(RedisUnavailableError);
    await until(() => counts.lost >= 1);
    await until(() => counts.ready >= 2);
    expect(await ask()).toBe(1);
    await link.stop();
  }, 60_000);
});

describeWithRedis('a list of servers that are no cluster', () => {
  test('is refused: each edge would choose its own, and count apart', async () => {
    const servers = await Promise.all([redisServer([]), redisServer([])]);
    await Promise.all(servers.map((server) => server.start()));
    let isReady = false;
    const reasons: string[] = [];
    const link = new RedisLink({
      url: servers.map(({ url }) => url).join(','),
      onReady: () => {
        isReady = true;
      },
      onMisconfigured: (reason) => void reasons.push(reason),
      onLost: () => undefined,
    });
    // Each of the two was asked.
    await until(() => reasons.length >= 2);
    expect(isReady).toBe(false);
    expect(reasons[0]).toContain('not a node of a cluster');
    await link.stop();
    await Promise.all(servers.map((server) => server.close()));
  });
});
