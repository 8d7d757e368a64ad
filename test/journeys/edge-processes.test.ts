import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { Journal, steadyLoad } from '../faults/rig/client.js';
import { describeWith } from '../support/describe-with.js';
import { freePort } from '../support/free-port.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { checkInvariants } from '../support/invariants.js';
import { metricOf } from '../support/metric.js';
import { limitOpenFiles, openFilesOf, PRLIMIT } from '../support/prlimit.js';
import { createProduct, type Product } from '../support/product.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { createTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const EDGES = 2;
/** One way, between callers and the port. */
const LINK_MS = 50;
const PER_SECOND = 15;
const CALLS = 40;
/** Of plan `free`. */
const FREE_PER_MINUTE = 20;
/** Open files that an edge may have in addition, and connections that are far too many for that. */
const MORE_FILES = 40;
const FLOOD = 400;
/** Soon for one that hangs, long for one that waits for a processor. */
const HUNG_AFTER_SECONDS = 5;

/** `METRICS_PORT` and the three ports after it: the first edge, the other processes, the second edge. */
async function metricsPorts(): Promise<[first: number, second: number]> {
  for (let ports = [await freePort()]; ; ports.push(await freePort())) {
    if (ports.at(-1)! - ports.at(-2)! !== 1) ports = ports.slice(-1);
    if (ports.length === EDGES + 2) return [ports[0]!, ports.at(-1)!];
  }
}

/** Decision 0166: `EDGE_PROCESSES` edges on one public port, which share their limits over Redis. */
describeWithRedis(`npm start with ${EDGES} edges`, () => {
  let redis: TestRedis;
  let product: Product;
  let key: string;
  let metrics: string[];
  beforeAll(async () => {
    redis = await createTestRedis();
    const ports = await metricsPorts();
    metrics = ports.map((port) => `http://127.0.0.1:${port}/metrics`);
    product = await createProduct({
      EDGE_PROCESSES: String(EDGES),
      REDIS_URL: redis.url,
      METRICS_PORT: String(ports[0]),
      HUNG_AFTER_SECONDS: String(HUNG_AFTER_SECONDS),
    });
    await product.start();
    key = (await product.customer()).key;
  }, 60_000);
  afterAll(async () => {
    await product?.remove();
    await redis?.close();
  }, 60_000);

  const edges = () => product.pids('gateway/main.js');
  /** Whether all edges have begun since. */
  const areReplaced = (before: number[]) => edges().every((pid) => !before.includes(pid));
  const serves = (metricsUrl: string) =>
    fetch(metricsUrl.replace('/metrics', '/health/ready')).then(
      ({ ok }) => ok,
      () => false,
    );
  /** An edge that was started takes a second until it serves. */
  const allServe = async () =>
    edges().length === EDGES && (await Promise.all(metrics.map(serves))).every(Boolean);

  /** As docs/operations.md says. */
  const restart = () =>
    run('npm', ['run', '--silent', 'restart:edges'], {
      env: { ...INHERITED_ENV, DATA_DIR: product.dataDir },
    });

  /** A connection for each call, unless `agent` keeps some: the next edge takes it. */
  async function callsWhile(
    happens: () => Promise<unknown>,
    { url = product.url, agent }: { url?: string; agent?: Agent } = {},
  ): Promise<Journal> {
    const journal = new Journal();
    let over = false;
    const load = steadyLoad(
      PER_SECOND,
      () => over,
      () => journal.call(url, key, {}, { ...(agent && { agent }) }),
    );
    try {
      await happens();
      await until(() => journal.entries.length > CALLS);
    } finally {
      over = true;
      await load;
    }
    return journal;
  }

  /** Every whole answer is charged, and the books agree. */
  async function isCharged({ entries }: Journal): Promise<void> {
    const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 1 });
    try {
      const ids = entries.filter(({ complete }) => complete).map(({ id }) => id);
      const sql = `select id from usage_events where status = 'success' and id = any($1)`;
      await until(async () => (await pool.query(sql, [ids])).rows.length === ids.length, {
        timeoutMs: 15_000,
        what: 'every answer to be charged',
      });
      expect(await checkInvariants(pool)).toEqual([]);
    } finally {
      await pool.end();
    }
  }

  test('answers on one port by all of them', async () => {
    expect(edges()).toHaveLength(EDGES);
    const journal = await callsWhile(async () => undefined);
    expect(Object.keys(journal.tally())).toEqual(['200']);
    for (const url of metrics)
      expect(await metricOf(url, 'gateway_requests_total')).toBeGreaterThan(CALLS / 4);
  });

  test('admits what the plan allows in a minute, and not one call more', async () => {
    const sums = async (name: string) =>
      (await Promise.all(metrics.map((url) => metricOf(url, name)))).reduce((sum, value) => sum + value, 0);
    // Redis that is late on a busy machine leaves each edge its share of the minute: then the next account.
    const tally = await until(async () => {
      const failed = await sums('gateway_redis_failures_total');
      const { key: other } = await product.customer('free');
      const journal = new Journal();
      await Promise.all(Array.from({ length: 3 * FREE_PER_MINUTE }, () => journal.call(product.url, other)));
      const isCounted = failed === (await sums('gateway_redis_failures_total'));
      return isCounted && (await sums('gateway_limits_shared')) === EDGES && journal.tally();
    });
    expect(tally).toEqual({ '200': FREE_PER_MINUTE, '429 rate_limit_exceeded': 2 * FREE_PER_MINUTE });
    expect(await sums('gateway_edges_alive')).toBe(EDGES * EDGES);
  });

  describeWith('util-linux', PRLIMIT, 'with few open files', () => {
    const setLimit = (files: number): void => {
      for (const pid of edges()) limitOpenFiles(pid, files);
    };
    const files = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

    test('closes connections for which no edge has a descriptor, and takes new ones as soon as it has', async () => {
      const before = edges();
      const limit = openFilesOf(before[0]!);
      const atRest = Math.max(...before.map(files));
      setLimit(atRest + MORE_FILES);
      const { hostname, port } = new URL(product.url);
      let closed = 0;
      const sockets = Array.from({ length: FLOOD }, () =>
        connect(Number(port), hostname)
          .on('error', () => undefined)
          .on('close', () => closed++),
      );
      try {
        // Edges close connections without a request after a while, but they have taken fewer.
        await until(() => closed >= FLOOD - EDGES * (atRest + MORE_FILES), {
          timeoutMs: 5_000,
          what: 'the connections that are too many to be closed',
        });
        for (const socket of sockets) socket.destroy();
        await until(() => before.every((pid) => files(pid) < atRest + MORE_FILES / 2), {
          what: 'the others to be closed',
        });
        const journal = await callsWhile(async () => undefined);
        expect(Object.keys(journal.tally())).toEqual(['200']);
        expect(edges()).toEqual(before);
        expect(product.output()).toMatch(/edge \d has no descriptor left .*LimitNOFILE/);
      } finally {
        for (const socket of sockets) socket.destroy();
        setLimit(limit);
      }
    }, 60_000);
  });

  test('restarts them one by one when asked to, and no call fails, also on connections that are kept over a slow link', async () => {
    const before = edges();
    const parent = product.pids('launcher/edges.js');
    const link = await createTcpProxy(Number(new URL(product.url).port));
    link.delay(LINK_MS);
    // Few and in turns: a connection that rests for long is closed, and a call that meets that is lost.
    const agent = new Agent({ keepAlive: true, maxSockets: 3, scheduling: 'fifo' });
    try {
      const journal = await callsWhile(
        async () => {
          const { stdout } = await restart();
          expect(stdout).toMatch(
            /^asked process \d+ \(http:\S+\) to restart its edges one by one; its output says when that is done\n$/,
          );
          const isOver = () => /^ +restart +restarted 2 edges in [\d.]+ s$/m.test(product.output());
          await until(isOver, { what: 'the end of the restart' });
          expect([edges().length, areReplaced(before)]).toEqual([EDGES, true]);
        },
        { url: `http://127.0.0.1:${link.port}`, agent },
      );
      expect(Object.keys(journal.tally())).toEqual(['200']);
      expect(product.pids('launcher/edges.js')).toEqual(parent);
    } finally {
      agent.destroy();
      await link.close();
    }
  });

  test('goes on with the others while one can not be started again, and restarts them once it can', async () => {
    await until(allServe, { what: 'all edges to serve' });
    const before = edges();
    const secret = join(product.dataDir, 'secrets', 'WEBHOOK_SECRET');
    renameSync(secret, `${secret}.aside`);
    // Reading it is a fault of the configuration, for root too.
    mkdirSync(secret);
    try {
      const tried = new Set<number>();
      const journal = await callsWhile(async () => {
        product.signal('SIGUSR2');
        await until(
          () => {
            for (const pid of edges()) if (!before.includes(pid)) tried.add(pid);
            return tried.size > 1;
          },
          { intervalMs: 20, what: 'a failed start, and another' },
        );
      });
      expect(Object.keys(journal.tally())).toEqual(['200']);
      expect(before.filter((pid) => edges().includes(pid))).toHaveLength(EDGES - 1);
    } finally {
      rmdirSync(secret);
      renameSync(`${secret}.aside`, secret);
    }
    await until(() => edges().length === EDGES && areReplaced(before), { what: 'other edges' });
  }, 60_000);

  test.each([
    ['is killed', 'SIGKILL'],
    ['freezes', 'SIGSTOP'],
  ] as const)(
    'goes on with the others when one %s in the middle of its calls, and charges what it answered',
    async (_what, signal) => {
      await until(allServe, { what: 'all edges to serve' });
      const [lost] = edges();
      const journal = await callsWhile(async () => {
        process.kill(lost!, signal);
        await until(() => !edges().includes(lost!), { what: 'its end' });
      });
      // No call is refused: what the dead edge held is far from all there is. No call hangs because its connection was on its way to that edge.
      expect(Object.keys(journal.tally()).filter((outcome) => /^\d|HUNG/.test(outcome))).toEqual(['200']);
      await isCharged(journal);
      await until(allServe, { what: 'another edge' });
    },
  );

  test.each([
    ['is killed', 'SIGKILL'],
    ['freezes', 'SIGSTOP'],
  ] as const)(
    'starts all edges again when the process that accepts connections %s',
    async (_what, signal) => {
      const before = edges();
      const [parent] = product.pids('launcher/edges.js');
      const journal = await callsWhile(async () => {
        process.kill(parent!, signal);
        await until(() => areReplaced(before), { what: 'the end of its edges' });
        await until(allServe, { what: 'other edges' });
      });
      expect(journal.tally()['200']).toBeGreaterThan(0);
      await isCharged(journal);
    },
    30_000,
  );

  test('stops all of them, with every usage event written', async () => {
    expect(await product.terminate()).toBe(0);
  }, 60_000);

  test('has nothing to restart afterwards', async () => {
    await expect(restart()).rejects.toMatchObject({
      code: 1,
      stderr: `restart:edges: nothing runs from ${product.dataDir}. Set DATA_DIR to that of npm start, on the same machine\n`,
    });
  });
});
