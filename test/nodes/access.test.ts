import { operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';
import { beat, register, WITH_SECRET } from './support.js';

const CANARY = 'node-canary.internal.example';
/** Of the node, and of nothing in the documentation. */
const NAME = 'canary rack';

describe('the address of a node', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  let id = '';
  let admin: { url: string; token: string };
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
    id = (await register(admin, { name: NAME, endpoint_url: `http://${CANARY}:8000/v1` })).id;
    await beat(suite.url, id, { loaded_models: ['m'] });
  });

  /** Every route, with this node's id wherever one fits. */
  const routes = () =>
    platformRoutes.map(({ method, url }) => ({
      method,
      path: url.replace(/:\w+/g, id).replace('*', 'x'),
    }));

  test('is shown to administrators', async () => {
    const shown = [];
    for (const { method, path } of routes().filter(({ method }) => method === 'GET')) {
      const answer = await call(suite.url, method, path, { token: admin.token });
      if (answer.text.includes(CANARY)) shown.push(path);
    }
    const expected = ['/api/admin/actions', '/api/admin/gpu-nodes', `/api/admin/gpu-nodes/${id}`];
    expect(shown.toSorted()).toEqual(expected);
  });

  test('is shown to nobody else, in no response and no header, nor is the node itself', async () => {
    const { token } = await signUp(suite.url);
    expect(routes().length).toBeGreaterThan(60);
    // A log-out would end the session at hand.
    for (const { method, path } of routes().filter((route) => route.path !== '/api/auth/logout')) {
      for (const who of [undefined, token]) {
        const body = method === 'GET' ? undefined : {};
        const answer = await call(suite.url, method, path, {
          ...(who !== undefined && { token: who }),
          body,
        });
        const seen = `${answer.text} ${JSON.stringify([...answer.headers])}`;
        expect([method, path, seen.includes(CANARY), seen.includes(NAME)]).toEqual([
          method,
          path,
          false,
          false,
        ]);
        if (path.startsWith('/api/admin')) expect(answer.status).toBe(who === undefined ? 401 : 403);
      }
    }
  });

  test('is refused over GraphQL', async () => {
    const { token } = await signUp(suite.url);
    for (const field of [
      'gpuNodes { endpointUrl }',
      `gpuNode(id: "${id}") { endpointUrl }`,
      'benchmarks { id }',
    ]) {
      const answer = await operate(suite.url, `{ ${field} }`, { token });
      expect(answer.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['forbidden']);
      expect(answer.text).not.toContain(CANARY);
    }
    const stopped = await operate(
      suite.url,
      `mutation { updateGpuNode(input: { id: "${id}", status: OFFLINE }) { node { id } } }`,
      { token },
    );
    expect(stopped.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['forbidden']);
    const still = await call<{ status: string }>(suite.url, 'GET', `/api/admin/gpu-nodes/${id}`, {
      token: admin.token,
    });
    expect(still.body.status).toBe('active');
  });

  test('is in no error that a heartbeat gets', async () => {
    const answer = await beat(suite.url, id, { gpu_utilization: 'x' });
    expect((answer.body as unknown as ErrorAnswer).error.code).toBe('validation_error');
    expect(answer.text).not.toContain(CANARY);
  });
});
