import { Journal, steadyLoad } from '../faults/rig/client.js';
import { freePort } from '../support/free-port.js';
import { metricOf } from '../support/metric.js';
import { createProduct, type Product } from '../support/product.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const EDGES = 2;
const PER_SECOND = 15;
const CALLS = 40;

/** `METRICS_PORT` and the four ports after it: the first edge, the other processes, the second edge. */
async function metricsPorts(): Promise<[first: number, second: number]> {
  for (let ports = [await freePort()]; ; ports.push(await freePort())) {
    if (ports.at(-1)! - ports.at(-2)! !== 1) ports = ports.slice(-1);
    if (ports.length === EDGES + 3) return [ports[0]!, ports.at(-1)!];
  }
}

/** Decision 0166: `EDGE_PROCESSES` edges on one public port. */
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
    });
    await product.start();
    key = (await product.customer()).key;
    await until(async () => (await edgesAlive()).every((alive) => alive === EDGES), {
      what: 'edges to share',
    });
  }, 60_000);
  afterAll(async () => {
    await product?.remove();
    await redis?.close();
  }, 60_000);

  const edgesAlive = () =>
    Promise.all(metrics.map((url) => metricOf(url, 'gateway_edges_alive').catch(() => 0)));
  const edges = () => product.pids('gateway/main.js');
  const serves = (metricsUrl: string) =>
    fetch(metricsUrl.replace('/metrics', '/health/ready')).then(
      ({ ok }) => ok,
      () => false,
    );
  /** An edge that was started takes a second until it serves. */
  const allServe = async () =>
    edges().length === EDGES && (await Promise.all(metrics.map(serves))).every(Boolean);

  async function callsWhile(happens: () => Promise<unknown>) {
    const journal = new Journal();
    let over = false;
    const load = steadyLoad(
      PER_SECOND,
      () => over,
      // A connection for each call: the next edge takes it.
      () => journal.call(product.url, key),
    );
    try {
      await happens();
      await until(() => journal.entries.length > CALLS);
    } finally {
      over = true;
      await load;
    }
    return journal.tally();
  }

  test('answers on one port by all of them', async () => {
    expect(edges()).toHaveLength(EDGES);
    const tally = await callsWhile(async () => undefined);
    expect(Object.keys(tally)).toEqual(['200']);
    for (const url of metrics)
      expect(await metricOf(url, 'gateway_requests_total')).toBeGreaterThan(CALLS / 4);
  });

  test('restarts them one by one on SIGUSR2, and no call fails', async () => {
    const before = edges();
    const tally = await callsWhile(async () => {
      product.signal('SIGUSR2');
      await until(() => edges().length === EDGES && edges().every((pid) => !before.includes(pid)), {
        what: 'other edges',
      });
    });
    expect(Object.keys(tally)).toEqual(['200']);
  });

  test('goes on with the others when one is killed, and starts it again', async () => {
    await until(allServe, { what: 'all edges to serve' });
    const [killed] = edges();
    process.kill(killed!, 'SIGKILL');
    await until(() => !edges().includes(killed!));
    expect(Object.keys(await callsWhile(async () => undefined))).toEqual(['200']);
    await until(() => edges().length === EDGES, { what: 'another edge' });
  });

  test('stops all of them, with every usage event written', async () => {
    expect(await product.terminate()).toBe(0);
  }, 60_000);
});
