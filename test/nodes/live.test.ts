import { randomUUID } from 'node:crypto';
import { codesOf, dataOf, type Followed, follow, operate, socketClient } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { beat, register, WITH_SECRET } from './support.js';

const CHANGES = `subscription ($nodeId: ID) { gpuNodesChanged(nodeId: $nodeId) {
  isSnapshot deletedNodeIds nodes { id name status healthStatus readings { gpuUtilization { value } } } } }`;

interface Change {
  gpuNodesChanged: {
    isSnapshot: boolean;
    deletedNodeIds: string[];
    nodes: { id: string; name: string; status: string; healthStatus: string; readings: object }[];
  };
}

describe('gpuNodesChanged', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  let admin: { url: string; token: string };
  beforeAll(async () => {
    admin = { url: suite.url, token: (await signUpAdmin(suite)).token };
  });
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const followAs = async (token: string, nodeId?: string): Promise<Followed<Change>> => {
    const client = socketClient(suite.url, { token });
    closing.push(() => client.dispose());
    const followed = follow<Change>(client, CHANGES, nodeId === undefined ? {} : { nodeId });
    await until(() => followed.results.length > 0 || followed.ended, { what: 'the first event' });
    return followed;
  };
  const changesOf = ({ results }: Followed<Change>) => results.map(({ data }) => data!.gpuNodesChanged);
  const patch = (id: string, body: object) =>
    call<{ updated_at: string; error?: { code: string } }>(suite.url, 'PATCH', `/api/admin/gpu-nodes/${id}`, {
      token: admin.token,
      body,
    });

  test('begins with all nodes, then sends heartbeats, changes and deletions, and nothing else', async () => {
    const known = await register(admin, { name: 'known' });
    const quiet = await register(admin, { name: 'quiet' });
    const followed = await followAs(admin.token);
    const [first] = changesOf(followed);
    expect(first!.isSnapshot).toBe(true);
    expect(first!.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining([known.id, quiet.id]));
    const later = () => changesOf(followed).slice(1);
    const reported = (id: string, wanted: object, what: string) =>
      // Sooner than a lost signal would be made good.
      soonerThan(
        10_000,
        () => {
          const last = later()
            .flatMap(({ nodes }) => nodes.filter((node) => node.id === id))
            .at(-1);
          return last !== undefined && JSON.stringify(last).includes(JSON.stringify(wanted).slice(1, -1));
        },
        what,
      );
    await beat(suite.url, known.id, { gpu_utilization: 12.5 });
    await reported(
      known.id,
      { healthStatus: 'HEALTHY', readings: { gpuUtilization: { value: 12.5 } } },
      'a heartbeat',
    );
    await patch(known.id, { status: 'draining' });
    await reported(known.id, { status: 'DRAINING' }, 'a drain');
    const made = await register(admin, { name: 'made' });
    await reported(made.id, { name: 'made' }, 'a registration');
    await call(suite.url, 'DELETE', `/api/admin/gpu-nodes/${made.id}`, { token: admin.token });
    await soonerThan(
      10_000,
      () => later().some(({ deletedNodeIds }) => deletedNodeIds.includes(made.id)),
      'a deletion',
    );
    expect(later().flatMap(({ nodes }) => nodes.map(({ id }) => id))).not.toContain(quiet.id);
    expect(later().every(({ isSnapshot }) => !isSnapshot)).toBe(true);
  });

  test('sends one node only if its ID is given', async () => {
    const [own, other] = [await register(admin), await register(admin)];
    const followed = await followAs(admin.token, own.id.toUpperCase());
    await beat(suite.url, other.id);
    await beat(suite.url, own.id);
    await soonerThan(10_000, () => followed.results.length > 1, 'the heartbeat');
    expect([...new Set(changesOf(followed).flatMap(({ nodes }) => nodes.map(({ id }) => id)))]).toEqual([
      own.id,
    ]);
  });

  test('is refused to everybody except administrators, with any alias', async () => {
    const { token } = await signUp(suite.url);
    const client = socketClient(suite.url, { token });
    closing.push(() => client.dispose());
    const followed = follow(
      client,
      'subscription { promptChanged: gpuNodesChanged { nodes { endpointUrl } } }',
    );
    await until(() => followed.ended, { what: 'the refusal' });
    const codes = followed.results.map(({ data, errors }) => [data ?? null, errors?.[0]?.extensions.code]);
    expect(codes).toEqual([[null, 'forbidden']]);
  });

  test('ends for an administrator who loses the role, and sends nothing after that', async () => {
    const former = await signUpAdmin(suite);
    const node = await register(admin);
    const followed = await followAs(former.token, node.id);
    await dataOf(
      suite.url,
      `mutation { setUserRole(input: { id: "${former.user.id}", role: USER }) { user { id } } }`,
      { token: admin.token },
    );
    await until(() => followed.ended, { timeoutMs: 10_000, what: 'the end of the session' });
    const before = followed.results.length;
    await beat(suite.url, node.id);
    expect(followed.results).toHaveLength(before);
    expect(followed.error).toMatchObject({ code: 4403 });
    const again = await operate(suite.url, '{ gpuNodes { endpointUrl } }', { token: former.token });
    expect(codesOf(again)).toEqual(['unauthorized']);
  });

  test("two administrators don't overwrite each other", async () => {
    const node = await register(admin, { name: `shared ${randomUUID()}` });
    const first = await patch(node.id, { region: 'eu-2', expected_updated_at: node.updated_at });
    expect(first.status).toBe(200);
    const late = await patch(node.id, { region: 'eu-3', expected_updated_at: node.updated_at });
    expect([late.status, late.body.error!.code]).toEqual([409, 'changed_meanwhile']);
    const next = await patch(node.id, { region: 'eu-3', expected_updated_at: first.body.updated_at });
    expect(next.status).toBe(200);
    expect((await patch(node.id, { expected_updated_at: next.body.updated_at })).status).toBe(422);
  });
});
