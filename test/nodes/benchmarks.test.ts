import type { BenchmarkOutput } from '../../src/services/nodes/nodes.outputs.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { NODE_SECRET, register, WITH_SECRET } from './support.js';

const RUN = {
  model_public_name: 'gateway/fast',
  total_requests: 100,
  concurrency: 8,
  total_tokens: 12_800,
  duration_ms: 10_000.5,
  tokens_per_second: 1_279.9,
  p50_latency_ms: 700,
  p95_latency_ms: 912.25,
  errors: 1,
};

describe('benchmarks', () => {
  const clock = testClock();
  // They are listed over all nodes.
  const suite = usePlatform({ own: true, clock, env: WITH_SECRET });
  let admin: { url: string; token: string };
  let node: string;
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
  });
  beforeEach(async () => {
    await suite.db.pool.query('delete from gpu_benchmarks');
    node = (await register(admin)).id;
  });

  const submit = (body: Record<string, unknown> = {}) =>
    call<BenchmarkOutput>(suite.url, 'POST', '/api/internal/benchmarks', {
      token: NODE_SECRET,
      body: { node_id: node, ...RUN, ...body },
    });
  const list = async (path = '') =>
    (await call<BenchmarkOutput[]>(suite.url, 'GET', `/api/admin/benchmarks${path}`, { token: admin.token }))
      .body;

  test('are stored as they are submitted', async () => {
    const answer = await submit();
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ node_id: node, ...RUN, ttft_p50_ms: null, slo: null, sweep: null });
    expect(await list()).toEqual([answer.body]);
  });

  test('of a model that does not exist are refused', async () => {
    const answer = await submit({ model_public_name: 'gateway/unknown' });
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { error: { code: 'validation_error', details: [{ field: 'model_public_name' }] } },
    ]);
    expect(await list()).toEqual([]);
  });

  test('store the measures of streams and the steps of a sweep', async () => {
    const streamed = {
      ttft_p50_ms: 80,
      ttft_p95_ms: 120,
      itl_p50_ms: 9.5,
      itl_p95_ms: 14,
      tpot_p50_ms: 9.75,
      goodput: 12.5,
      slo: 'ttft=500ms,itl=50ms',
    };
    const sweep = [{ concurrency: 1, tokens_per_second: 100, p95_latency_ms: 500, errors: 0 }];
    await submit({ ...streamed, sweep });
    expect(await list()).toMatchObject([
      { ...streamed, sweep: [{ ...sweep[0], ttft_p95_ms: null, goodput: null }] },
    ]);
  });

  test('are listed newest first, optionally of one node or model', async () => {
    const other = (await register(admin, { name: 'other' })).id;
    for (const [errors, change] of [
      {},
      { node_id: other },
      { model_public_name: 'gateway/embed' },
    ].entries()) {
      await submit({ ...change, errors });
      clock.advance(1_000);
    }
    const errorsOf = (runs: BenchmarkOutput[]) => runs.map(({ errors }) => errors);
    expect(errorsOf(await list())).toEqual([2, 1, 0]);
    expect(errorsOf(await list(`?node_id=${node}`))).toEqual([2, 0]);
    expect(errorsOf(await list('?model=gateway/fast'))).toEqual([1, 0]);
    expect(errorsOf(await list('?limit=1&offset=2'))).toEqual([0]);
    await submit({ errors: 3 });
    expect(errorsOf(await list('/latest'))).toEqual([3, 2, 1]);
  });

  test.each(['benchmarks/latest', 'jobs', 'routing'])(
    'lists that are whole, such as %s, refuse the parameters of a page',
    async (path) => {
      const answer = await call<ErrorAnswer>(suite.url, 'GET', `/api/admin/${path}?limit=0`, {
        token: admin.token,
      });
      expect([answer.status, answer.body.error.details]).toEqual([
        422,
        [{ field: 'limit', message: 'is not a known field' }],
      ]);
    },
  );

  test('outlive their node', async () => {
    await submit();
    await call(suite.url, 'DELETE', `/api/admin/gpu-nodes/${node}`, { token: admin.token });
    expect(await list()).toHaveLength(1);
    const { status, body } = await submit();
    expect([status, (body as unknown as ErrorAnswer).error]).toMatchObject([
      404,
      { code: 'not_found', param: 'node_id', message: 'There is no GPU node with this ID.' },
    ]);
  });

  test.each([
    ['total_requests', { total_requests: 0, errors: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['tokens_per_second', { tokens_per_second: 'fast' }],
    ['p95_latency_ms', { p95_latency_ms: -1 }],
    ['errors', { errors: undefined }],
    ['errors', { errors: 101 }],
    ['status', { status: 'good' }],
  ])('are refused because of their %s', async (field, change) => {
    const answer = await submit(change);
    const { error } = answer.body as unknown as ErrorAnswer;
    expect([answer.status, error.details?.map((detail) => detail.field)]).toEqual([422, [field]]);
  });

  test('require the internal secret', async () => {
    const answer = await call(suite.url, 'POST', '/api/internal/benchmarks', {
      token: admin.token,
      body: { node_id: node, ...RUN },
    });
    expect(answer.status).toBe(401);
  });
});
