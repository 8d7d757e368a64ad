import type { HeartbeatOutput, NodeOutput } from '../../src/services/nodes/nodes.outputs.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { beat, NODE_SECRET, register, WITH_SECRET } from './support.js';

describe('a heartbeat', () => {
  const clock = testClock();
  const suite = usePlatform({ clock, env: WITH_SECRET });
  let admin: { url: string; token: string };
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
  });

  const get = async (id: string) =>
    (await call<NodeOutput>(suite.url, 'GET', `/api/admin/gpu-nodes/${id}`, { token: admin.token })).body;
  const history = async (id: string) =>
    (
      await call<HeartbeatOutput[]>(suite.url, 'GET', `/api/admin/gpu-nodes/${id}/heartbeats`, {
        token: admin.token,
      })
    ).body;

  test("without a body makes a node healthy, with the server's time", async () => {
    const { id } = await register(admin);
    const answer = await beat(suite.url, id);
    const at = new Date(clock.now()).toISOString().replace('Z', '000Z');
    expect([answer.status, answer.body]).toEqual([
      200,
      { node_id: id, status: 'active', health_status: 'healthy', last_heartbeat_at: at },
    ]);
    clock.advance(12_300);
    expect(await get(id)).toMatchObject({
      health_status: 'healthy',
      last_heartbeat_at: at,
      heartbeat_age_seconds: 12.3,
    });
    expect(await history(id)).toEqual([]);
  });

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain;charset=UTF-8', undefined])(
    'may have an empty body of type %s',
    async (type) => {
      const { id } = await register(admin);
      const headers = {
        authorization: `Bearer ${NODE_SECRET}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      };
      const path = `/api/internal/gpu-nodes/${id}/heartbeat`;
      expect((await call(suite.url, 'POST', path, { headers })).status).toBe(200);
    },
  );

  test('may be an empty object', async () => {
    const { id } = await register(admin);
    expect((await beat(suite.url, id, {})).status).toBe(200);
  });

  test('updates each metric with its own age, and keeps earlier ones', async () => {
    const { id } = await register(admin);
    await beat(suite.url, id, { gpu_utilization: 87.5, loaded_models: ['a', 'b'] });
    clock.advance(60_000);
    await beat(suite.url, id, { gpu_utilization: 12, requests_waiting: 3, kv_cache_usage: 0.25 });
    clock.advance(1_000);
    const { readings } = await get(id);
    expect(readings).toMatchObject({
      gpu_utilization: { value: 12, age_seconds: 1 },
      requests_waiting: { value: 3, age_seconds: 1 },
      kv_cache_usage: { value: 0.25, age_seconds: 1 },
      loaded_models: { value: ['a', 'b'], age_seconds: 61 },
      memory_used_gb: null,
      requests_running: null,
    });
    expect(await history(id)).toMatchObject([
      { gpu_utilization: 12, requests_waiting: 3, loaded_models: null },
      { gpu_utilization: 87.5, requests_waiting: null, loaded_models: ['a', 'b'] },
    ]);
  });

  test("doesn't change an administrator's settings", async () => {
    const { id } = await register(admin);
    await call(suite.url, 'PATCH', `/api/admin/gpu-nodes/${id}`, {
      token: admin.token,
      body: { status: 'draining' },
    });
    expect((await beat(suite.url, id)).body).toMatchObject({ status: 'draining', health_status: 'healthy' });
  });

  test('is accepted twice in a millisecond, or while the clock goes back', async () => {
    const { id } = await register(admin);
    await beat(suite.url, id, { gpu_utilization: 1 });
    await beat(suite.url, id, { gpu_utilization: 2 });
    const before = (await get(id)).last_heartbeat_at;
    clock.advance(-5_000);
    expect((await beat(suite.url, id, { gpu_utilization: 3 })).status).toBe(200);
    expect((await get(id)).last_heartbeat_at).toBe(before);
    clock.advance(5_000);
  });

  test.each([
    { gpu_utilization: 101 },
    { gpu_utilization: -1 },
    { gpu_utilization: '50' },
    { memory_used_gb: 1e9 },
    { loaded_models: Array.from({ length: 201 }, () => 'm') },
    { loaded_models: ['\u0000'] },
    { requests_running: 1.5 },
    { kv_cache_usage: 2 },
    { health_status: 'healthy' },
    [],
  ])('with %j is refused', async (body) => {
    const { id } = await register(admin);
    expect((await beat(suite.url, id, body)).status).toBe(422);
    expect((await get(id)).last_heartbeat_at).toBeNull();
  });

  test('of an unknown node is 404, but only with the secret', async () => {
    for (const id of ['nonsense', '01900000-0000-7000-8000-000000000000']) {
      expect((await beat(suite.url, id)).status).toBe(404);
      expect((await beat(suite.url, id, undefined, 'wrong')).status).toBe(401);
    }
  });

  test('is accepted with the secret alone: no session, no API key, no part of it, no cookie', async () => {
    const { id } = await register(admin);
    const { token } = await signUp(suite.url);
    const wrong = [
      token,
      admin.token,
      '',
      NODE_SECRET.slice(0, -1),
      `${NODE_SECRET}x`,
      NODE_SECRET.toLowerCase(),
    ];
    for (const bearer of wrong) {
      const answer = await beat(suite.url, id, undefined, bearer);
      expect([answer.status, (answer.body as unknown as ErrorAnswer).error.code]).toEqual([
        401,
        'unauthorized',
      ]);
    }
    const path = `/api/internal/gpu-nodes/${id}/heartbeat`;
    for (const headers of [
      {},
      { cookie: `pr_session=${NODE_SECRET}` },
      { authorization: `Basic ${NODE_SECRET}` },
    ]) {
      expect(
        (await call(suite.url, 'POST', path, { headers: headers as Record<string, string> })).status,
      ).toBe(401);
    }
    expect((await get(id)).last_heartbeat_at).toBeNull();
  });
});

describe('while the secret is rotated', () => {
  const suite = usePlatform({
    env: { GPU_HEARTBEAT_SECRET: 'the-new-one', GPU_HEARTBEAT_SECRET_PREVIOUS: NODE_SECRET },
  });

  test('the new secret and the previous one are accepted, and no other', async () => {
    const { token } = await signUpAdmin(suite);
    const { id } = await register({ url: suite.url, token });
    const statuses: number[] = [];
    for (const bearer of ['the-new-one', NODE_SECRET, 'another-one', '']) {
      statuses.push((await beat(suite.url, id, undefined, bearer)).status);
    }
    expect(statuses).toEqual([200, 200, 401, 401]);
  });
});

describe('without a configured secret', () => {
  const suite = usePlatform();

  test.each(['', 'anything'])('the internal routes answer 503 to %p', async (token) => {
    for (const path of ['/api/internal/gpu-nodes/x/heartbeat', '/api/internal/benchmarks']) {
      const answer = await call<ErrorAnswer>(suite.url, 'POST', path, { token, body: {} });
      expect([answer.status, answer.body.error.code]).toEqual([503, 'internal_routes_disabled']);
    }
  });
});
