import { dataOf, operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { beat, NODE_SECRET, register, WITH_SECRET } from './support.js';

const FIELDS = `id name hourlyCostUsd endpointUrl status healthStatus lastHeartbeatAt inFlight
  readings { gpuUtilization { value } loadedModels { value } }`;

describe('nodes over GraphQL', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  let admin: { url: string; token: string };
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
  });
  const ask = <Data>(query: string, variables?: Record<string, unknown>) =>
    dataOf<Data>(suite.url, query, { token: admin.token, ...(variables && { variables }) });

  test('are registered, changed, read and deleted as over REST', async () => {
    const input = {
      name: 'rack 7',
      provider: 'own',
      region: 'eu-1',
      gpuType: 'L4',
      hourlyCostUsd: '0.7',
      endpointUrl: 'https://node-7.example.com',
    };
    const { createGpuNode } = await ask<{ createGpuNode: { node: { id: string } } }>(
      `mutation ($input: CreateGpuNodeInput!) { createGpuNode(input: $input) { node { ${FIELDS} } } }`,
      { input },
    );
    const { id } = createGpuNode.node;
    expect(createGpuNode.node).toMatchObject({
      hourlyCostUsd: '0.700000',
      endpointUrl: input.endpointUrl,
      status: 'ACTIVE',
      healthStatus: 'UNHEALTHY',
    });
    await beat(suite.url, id, { gpu_utilization: 5, loaded_models: ['m'] });
    const updated = await ask<object>(
      `mutation { updateGpuNode(input: { id: "${id}", status: DRAINING }) { node { ${FIELDS} } } }`,
    );
    expect(updated).toMatchObject({
      updateGpuNode: {
        node: {
          status: 'DRAINING',
          healthStatus: 'HEALTHY',
          readings: { gpuUtilization: { value: 5 }, loadedModels: { value: ['m'] } },
        },
      },
    });
    expect(
      await ask(`{ gpuNode(id: "${id}") { name } gpuNodeHeartbeats(id: "${id}") { gpuUtilization } }`),
    ).toEqual({ gpuNode: { name: 'rack 7' }, gpuNodeHeartbeats: [{ gpuUtilization: 5 }] });
    expect(await ask(`mutation { deleteGpuNode(input: { id: "${id}" }) { deletedGpuNodeId } }`)).toEqual({
      deleteGpuNode: { deletedGpuNodeId: id },
    });
    const gone = await operate(suite.url, `{ gpuNode(id: "${id}") { name } }`, { token: admin.token });
    expect(gone.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['not_found']);
  });

  test('have their benchmarks', async () => {
    const { id } = await register(admin);
    const run = { total_requests: 10, concurrency: 2, total_tokens: 100, duration_ms: 1_000 };
    const figures = { tokens_per_second: 100, p50_latency_ms: 90, p95_latency_ms: 99, errors: 0 };
    await call(suite.url, 'POST', '/api/internal/benchmarks', {
      token: NODE_SECRET,
      body: { node_id: id, model_public_name: 'gateway/fast', ...run, ...figures },
    });
    const { benchmarks, latestBenchmarks } = await ask<Record<string, { nodeId: string }[]>>(
      `{ benchmarks(nodeId: "${id}") { nodeId tokensPerSecond } latestBenchmarks { nodeId tokensPerSecond } }`,
    );
    expect(benchmarks).toEqual([{ nodeId: id, tokensPerSecond: 100 }]);
    expect(latestBenchmarks).toContainEqual({ nodeId: id, tokensPerSecond: 100 });
  });
});
