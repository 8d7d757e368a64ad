import type { NodeOutput } from '../../src/services/nodes/nodes.outputs.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { NODE, register } from './support.js';

const NODES = '/api/admin/gpu-nodes';

describe(NODES, () => {
  const clock = testClock();
  // It lists all nodes.
  const suite = usePlatform({ own: true, clock });
  let admin: { url: string; token: string };
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
  });
  beforeEach(() => suite.db.pool.query('delete from gpu_nodes'));

  const ask = <T = NodeOutput>(method: string, path: string, body?: unknown) =>
    call<T>(suite.url, method, path, { token: admin.token, body });
  const actions = async (subject: string) =>
    (
      await suite.db.pool.query(
        `select action, source, before, after, actor_id is not null as named from admin_actions
         where subject_id = $1 order by created_at, id`,
        [subject],
      )
    ).rows;

  test('shows how many deployments are at a node, as running model proxies report', async () => {
    const { id } = await register(admin);
    const { id: other } = await register(admin);
    const deployments = async () => [
      (await ask('GET', `${NODES}/${id}`)).body.deployments,
      (await ask('GET', `${NODES}/${other}`)).body.deployments,
    ];
    const report = (age: string, nodes: object) =>
      suite.db.pool.query(
        `insert into proxy_reports (proxy_id, reported_at, nodes)
         values (gen_random_uuid(), now() - $1::interval, $2)`,
        [age, nodes],
      );
    await report('1 minute', { [id]: { in_flight: 0, revision: 0, deployments: 5 } });
    // Of a build that doesn't count them.
    await report('0 s', { [id]: { in_flight: 0, revision: 0 } });
    expect(await deployments()).toEqual([null, null]);
    const none = { in_flight: 0, revision: 0, deployments: 0 };
    await report('0 s', { [id]: none, [other]: none });
    expect(await deployments()).toEqual([0, 0]);
    await report('0 s', { [id]: { ...none, deployments: 2 }, [other]: none });
    expect(await deployments()).toEqual([2, 0]);
    await suite.db.pool.query('delete from proxy_reports');
  });

  test('registers a node that is active and unhealthy until its first heartbeat', async () => {
    const answer = await ask('POST', NODES, NODE);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        ...NODE,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        hourly_cost_usd: '2.500000',
        status: 'active',
        health_status: 'unhealthy',
        kept_in_routing: false,
        last_heartbeat_at: null,
        heartbeat_age_seconds: null,
        in_flight: null,
        deployments: null,
        drained_at: null,
        readings: {
          gpu_utilization: null,
          memory_used_gb: null,
          requests_running: null,
          requests_waiting: null,
          kv_cache_usage: null,
          loaded_models: null,
        },
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        updated_at: expect.any(String),
      },
    ]);
    expect(await actions(answer.body.id)).toEqual([
      {
        action: 'node.create',
        source: 'session',
        named: true,
        before: null,
        after: { ...NODE, hourly_cost_usd: '2.500000', status: 'active' },
      },
    ]);
  });

  test('lists nodes newest first, each as it is shown alone', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      ids.push((await register(admin, { name })).id);
      clock.advance(1_000);
    }
    const listed = await ask<NodeOutput[]>('GET', NODES);
    expect(listed.body.map(({ id }) => id)).toEqual(ids.toReversed());
    for (const node of listed.body) expect((await ask('GET', `${NODES}/${node.id}`)).body).toEqual(node);
    const page = await ask<NodeOutput[]>('GET', `${NODES}?limit=1&offset=1`);
    expect(page.body.map(({ id }) => id)).toEqual([ids[1]]);
  });

  test('changes the given fields, and records the previous values', async () => {
    const { id } = await register(admin);
    clock.advance(1_000);
    const changed = await ask('PATCH', `${NODES}/${id}`, { status: 'draining', hourly_cost_usd: '0.5' });
    expect(changed.body).toMatchObject({ ...NODE, status: 'draining', hourly_cost_usd: '0.500000' });
    expect((await actions(id)).at(-1)).toMatchObject({
      action: 'node.update',
      before: { status: 'active', hourly_cost_usd: '2.500000' },
      after: { status: 'draining', hourly_cost_usd: '0.500000' },
    });
    const again = await ask('PATCH', `${NODES}/${id}`, { status: 'draining' });
    expect([again.status, again.body.updated_at]).toEqual([200, changed.body.updated_at]);
    expect(await actions(id)).toHaveLength(2);
  });

  test('deletes a node', async () => {
    const { id } = await register(admin);
    expect((await ask('DELETE', `${NODES}/${id}`)).status).toBe(204);
    expect((await ask('GET', `${NODES}/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `${NODES}/${id}`)).status).toBe(404);
    expect((await actions(id)).at(-1)).toMatchObject({ action: 'node.delete', after: null });
  });

  test("protects administrators' actions from change and removal", async () => {
    const { id } = await register(admin);
    for (const statement of [
      'delete from admin_actions where subject_id = $1',
      `update admin_actions set action = 'x' where subject_id = $1`,
    ]) {
      await expect(suite.db.pool.query(statement, [id])).rejects.toThrow('immutable');
    }
    await expect(suite.db.pool.query('truncate admin_actions')).rejects.toThrow('immutable');
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['gpu_type', { gpu_type: 'x'.repeat(101) }],
    ['hourly_cost_usd', { hourly_cost_usd: -1 }],
    ['hourly_cost_usd', { hourly_cost_usd: 'much' }],
    ['endpoint_url', { endpoint_url: '10.0.0.5:8000' }],
    ['endpoint_url', { endpoint_url: 'ftp://10.0.0.5' }],
    ['endpoint_url', { endpoint_url: 'http://user:secret@10.0.0.5:8000' }],
    ['status', { status: 'draining' }],
    ['id', { id: '01900000-0000-7000-8000-000000000000' }],
  ])('refuses a registration for its %s', async (field, change) => {
    const answer = await ask<ErrorAnswer>('POST', NODES, { ...NODE, ...change });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  test.each([{}, { status: 'gone' }, { health_status: 'healthy' }, { status: null }])(
    'refuses the change %j',
    async (body) => {
      const { id } = await register(admin);
      expect((await ask('PATCH', `${NODES}/${id}`, body)).status).toBe(422);
    },
  );

  test.each(['nonsense', '01900000-0000-7000-8000-000000000000'])("doesn't find node %s", async (id) => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/heartbeats'],
      ['PATCH', '', { status: 'offline' }],
      ['DELETE', ''],
    ] as const) {
      expect((await ask(method, `${NODES}/${id}${path}`, body)).status).toBe(404);
    }
  });
});
