import { nodeMetrics } from '../../src/jobs/nodes.jobs.js';
import { newId } from '../../src/lib/ids.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { createHeartbeatsService } from '../../src/services/nodes/heartbeats.service.js';
import { judgeSweep, type SweptNode } from '../../src/services/nodes/nodes.rules.js';
import { jobContext } from '../jobs/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const START = Date.UTC(2026, 10, 21, 8);
const LIMITS = { staleAfterMs: 180_000, intervalMs: 30_000 };

describe('the sweep', () => {
  let db: TestDatabase;
  const heartbeats = createHeartbeatsService();
  beforeAll(async () => {
    // It counts all nodes.
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(() => db.pool.query('delete from gpu_nodes; delete from gpu_sweeps'));

  const node = async (status = 'active') => {
    const id = newId();
    await db.pool.query(
      `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key, status,
         created_at, updated_at) values ($1, 'n', 'p', 'r', 'g', 1, 'http://10.0.0.1', '10.0.0.1:80', $2, now(), now())`,
      [id, status],
    );
    return id;
  };
  const at = (seconds: number) => jobContext(db.orm, START + seconds * 1_000);
  const beat = (id: string, seconds: number, metrics = {}) =>
    heartbeats.receive(at(seconds).context, id, metrics);
  const sweep = async (seconds: number) => {
    const { context, logged } = at(seconds);
    return { ...(await heartbeats.sweep(context, LIMITS)), logged };
  };
  const stateOf = async (id: string) => {
    const { rows } = await db.pool.query<{ health_status: string; kept_in_routing: boolean }>(
      'select health_status, kept_in_routing from gpu_nodes where id = $1',
      [id],
    );
    return `${rows[0]!.health_status}${rows[0]!.kept_in_routing ? ', kept' : ''}`;
  };
  const states = (ids: string[]) => Promise.all(ids.map(stateOf));
  const nodes = (count: number) => Promise.all(Array.from({ length: count }, () => node()));

  test('marks a node that has been silent for longer than the limit, and a heartbeat restores it', async () => {
    const [silent, heard, never] = (await nodes(3)) as [string, string, string];
    await beat(silent, 0);
    await beat(heard, 1);
    expect(await sweep(180)).toMatchObject({ healthy: 2, unhealthy: 0 });
    expect(await sweep(180.5)).toMatchObject({ healthy: 1, unhealthy: 1, kept: 0 });
    expect(await states([silent, heard, never])).toEqual(['unhealthy', 'healthy', 'unhealthy']);
    await beat(silent, 181);
    expect(await stateOf(silent)).toBe('healthy');
  });

  test("doesn't change nodes that are already unhealthy", async () => {
    const ids = await nodes(3);
    await Promise.all(ids.map((id, index) => beat(id, index * 100)));
    await sweep(190);
    const { rows } = await db.pool.query('select xmin::text from gpu_nodes where id = $1', [ids[0]]);
    const { logged } = await sweep(220);
    expect((await db.pool.query('select xmin::text from gpu_nodes where id = $1', [ids[0]])).rows).toEqual(
      rows,
    );
    expect(logged).toEqual([]);
  });

  test('keeps nodes in routing when half of them go silent at once, and logs it', async () => {
    const ids = await nodes(4);
    await Promise.all(ids.map((id, index) => beat(id, index < 2 ? 0 : 100)));
    const { logged, ...result } = await sweep(181);
    expect(result).toMatchObject({ healthy: 2, unhealthy: 2, kept: 2 });
    expect(await states(ids)).toEqual(['unhealthy, kept', 'unhealthy, kept', 'healthy', 'healthy']);
    expect(logged).toEqual([
      expect.objectContaining({ level: 50, nodes: expect.arrayContaining(ids.slice(0, 2)) }),
    ]);
  });

  test('keeps nodes that an outage took together, even if several sweeps find them', async () => {
    const ids = await nodes(4);
    // Heartbeats come every minute: at 100 they all end.
    await Promise.all(ids.map((id, index) => beat(id, 50 + index * 15)));
    await sweep(240);
    expect(await states(ids)).toEqual(['unhealthy', 'healthy', 'healthy', 'healthy']);
    expect(await sweep(270)).toMatchObject({ healthy: 1, kept: 3 });
    expect(await sweep(300)).toMatchObject({ healthy: 0, kept: 4 });
    expect(await sweep(330)).toMatchObject({ healthy: 0, kept: 4 });
  });

  test("doesn't keep a node with them that fell silent long before", async () => {
    const ids = await nodes(5);
    await Promise.all(ids.map((id, index) => beat(id, index === 0 ? 0 : 100)));
    await sweep(190);
    await Promise.all(ids.slice(3).map((id) => beat(id, 200)));
    await sweep(290);
    expect(await states(ids)).toEqual([
      'unhealthy',
      'unhealthy, kept',
      'unhealthy, kept',
      'healthy',
      'healthy',
    ]);
  });

  test('avoids those that stay silent once most of the others are heard again', async () => {
    const ids = await nodes(4);
    await Promise.all(ids.map((id) => beat(id, 0)));
    expect(await sweep(181)).toMatchObject({ kept: 4 });
    await Promise.all(ids.slice(1, 3).map((id) => beat(id, 190)));
    expect(await sweep(211)).toMatchObject({ healthy: 2, kept: 2 });
    await beat(ids[3]!, 220);
    expect(await sweep(241)).toMatchObject({ healthy: 3, kept: 0 });
    expect(await states(ids)).toEqual(['unhealthy', 'healthy', 'healthy', 'healthy']);
  });

  test('changes what every jobs process reports, whichever of them ran it', async () => {
    const registries = [createRegistry('jobs'), createRegistry('jobs')];
    for (const registry of registries) nodeMetrics(registry, () => at(0).context);
    const shown = () =>
      Promise.all(
        registries.map(async (registry) =>
          [...(await registry.metrics()).matchAll(/^gateway_nodes\{state="(\w+)".*\} (\d+)$/gm)].map(
            ([, state, nodes]) => `${nodes} ${state}`,
          ),
        ),
      );
    const ids = await nodes(4);
    await Promise.all(ids.map((id) => beat(id, 0)));
    await sweep(181);
    const kept = ['0 healthy', '0 unhealthy', '4 kept'];
    expect(await shown()).toEqual([kept, kept]);
    await Promise.all(ids.slice(1).map((id) => beat(id, 190)));
    await sweep(211);
    const back = ['3 healthy', '1 unhealthy', '0 kept'];
    expect(await shown()).toEqual([back, back]);
  });

  test('logs when it ran late', async () => {
    expect(await sweep(0)).toMatchObject({ late: false });
    expect(await sweep(60)).toMatchObject({ late: false });
    expect(await heartbeats.sweepAgeSeconds(at(65).context)).toBe(5);
    expect(await sweep(121)).toMatchObject({ late: true });
  });

  test('deletes metrics after a day', async () => {
    const id = await node();
    await beat(id, 0, { gpu_utilization: 1 });
    await beat(id, 60, { gpu_utilization: 2 });
    await sweep(86_430);
    expect((await db.pool.query('select gpu_utilization as value from gpu_heartbeats')).rows).toEqual([
      { value: 2 },
    ]);
  });
});

describe('whether routing believes a sweep', () => {
  const old = new Date(0);
  const fresh = new Date(1_000);
  const swept = (lastHeartbeatAt: Date, more: Partial<SweptNode> = {}): SweptNode => ({
    id: newId(),
    status: 'active',
    healthStatus: 'healthy',
    keptInRouting: false,
    lastHeartbeatAt,
    ...more,
  });
  const judge = (silent: number, heard: number, more: SweptNode[] = []) => {
    const list = [
      ...Array.from({ length: silent }, () => swept(old)),
      ...Array.from({ length: heard }, () => swept(fresh)),
      ...more,
    ];
    const { stale, kept } = judgeSweep(list, 500, 100);
    return [stale.length, kept.length];
  };

  test.each([
    [1, 0, 0],
    [1, 1, 0],
    [2, 0, 2],
    [2, 2, 2],
    [2, 3, 0],
    [3, 3, 3],
    [49, 51, 0],
    [50, 50, 50],
  ])('%i silent and %i heard: %i are kept', (silent, heard, kept) => {
    expect(judge(silent, heard)).toEqual([silent, kept]);
  });

  test("nodes that are switched off don't count on either side", () => {
    const off = Array.from({ length: 5 }, () => swept(old, { status: 'offline' }));
    expect(judge(1, 3, off)).toEqual([6, 0]);
  });
});
