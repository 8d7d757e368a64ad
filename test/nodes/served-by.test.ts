import { newId } from '../../src/lib/ids.js';
import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge, type TestEdge, type TestKey } from '../support/edge.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  delta,
  FULL_STREAM,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';
import { insertNode } from './support.js';

const DEPLOYMENT = 'déployment canary';
const OTHER = 'other-canary';

/** Edge and model proxy before two nodes, of which one is registered. */
describe('a usage event', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let bare: ScriptedUpstream;
  let proxy: TestProxy;
  let edge: TestEdge;
  let customer: TestKey;
  let nodeId: string;

  beforeAll(async () => {
    db = await createTestDatabase();
    [node, bare] = [await startScriptedUpstream(), await startScriptedUpstream()];
    nodeId = await insertNode(db.pool, node.url);
    const config = routes(
      [
        { model: 'gateway/fast', id: DEPLOYMENT, url: node.url },
        { model: 'gateway/qwen-fast', id: OTHER, url: bare.url },
      ],
      { num_retries: 0, allowed_fails: 1_000 },
    );
    proxy = await startTestProxy(db, { config, followNodes: true });
    edge = await startTestEdge(db, { upstreamUrl: proxy.url });
    customer = await createTestKey(db, { virtualKey: TEST_SECRETS.UPSTREAM_MASTER_KEY });
    await until(async () => (await db.pool.query('select 1 from proxy_reports')).rowCount);
  });
  beforeEach(() => node.answer(chat()));
  afterAll(async () => {
    await edge?.close();
    await proxy?.close();
    await Promise.all([node?.close(), bare?.close()]);
    await db?.close();
  });

  /** A call, what it kept, and everything that its caller saw. */
  const call = async (body: object = {}) => {
    const response = await postChat(edge.url, customer.key, body);
    const seen = `${JSON.stringify([...response.headers])}\n${await response.text()}`;
    await edge.settled();
    const { rows } = await db.pool.query<{ deployment: string; node_id: string; node_calls: number }>(
      'select deployment, node_id, node_calls from usage_events where id = $1',
      [response.headers.get('x-request-id')],
    );
    return { status: response.status, seen, kept: rows[0] };
  };
  const nothingOfTheNode = (seen: string) => {
    for (const canary of ['canary', nodeId, new URL(node.url).host, 'served-by'])
      expect([canary, seen.includes(canary)]).toEqual([canary, false]);
  };

  test.each([
    ['a whole answer', {}, () => chat(), 200],
    ['a stream', { stream: true }, () => stream(FULL_STREAM), 200],
    [
      'a stream that breaks',
      { stream: true },
      () =>
        (
          _request: unknown,
          response: {
            destroy(): void;
            write(text: string): void;
            writeHead(status: number, headers: object): void;
          },
        ) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(delta('x'));
          setTimeout(() => response.destroy(), 20);
        },
      200,
    ],
    ['a request that the node refuses', {}, () => raw(400, '{"error":{"message":"no"}}'), 400],
    ['a node that fails', {}, () => raw(500, '{}'), 502],
  ] as const)(
    'keeps the deployment and its node for %s, which the caller never sees',
    async (_what, body, script, status) => {
      node.answer(script() as ReturnType<typeof chat>);
      const { seen, kept, ...answer } = await call(body);
      expect(answer.status).toBe(status);
      expect(kept).toEqual({ deployment: DEPLOYMENT, node_id: nodeId, node_calls: 1 });
      nothingOfTheNode(seen);
    },
  );

  test('records only the deployment if no node is registered', async () => {
    const { kept } = await call({ model: 'gateway/qwen-fast' });
    expect(kept).toEqual({ deployment: OTHER, node_id: null, node_calls: 1 });
  });

  test('counts the calls in progress on the node when its own began', async () => {
    const waiting: (() => void)[] = [];
    node.answer(async (request, response) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      chat()(request, response);
    });
    const calls = [];
    for (let count = 1; count <= 3; count++) {
      calls.push(call());
      await until(() => waiting.length === count);
    }
    for (const release of waiting) release();
    const kept = (await Promise.all(calls)).map((one) => one.kept?.node_calls);
    expect(kept.toSorted()).toEqual([1, 2, 3]);
  });

  test("can't be given another deployment, node or place by a caller or by the node itself", async () => {
    const lie = `${newId()} 77 forged`;
    const forged = { 'x-gateway-served-by': lie, 'x-litellm-model-id': 'forged' };
    node.answer(chat({ 'x-gateway-served-by': lie }, 200, forged));
    const response = await postChat(edge.url, customer.key, {}, forged);
    expect(response.headers.get('x-gateway-served-by')).toBeNull();
    await response.text();
    await edge.settled();
    const { rows } = await db.pool.query('select deployment, node_id from usage_events where id = $1', [
      response.headers.get('x-request-id'),
    ]);
    expect(rows).toEqual([{ deployment: DEPLOYMENT, node_id: nodeId }]);
    expect(node.seen.at(-1)!.headers).not.toHaveProperty('x-gateway-served-by');
  });

  test('records no node for a call whose client leaves before the answer begins', async () => {
    node.answer(() => undefined);
    const leaving = new AbortController();
    const began = node.seen.length;
    const gone = fetch(`${edge.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: 'x' }] }),
    }).catch(() => undefined);
    await until(() => node.seen.length > began);
    leaving.abort();
    await gone;
    const row = await until(
      async () =>
        (
          await db.pool.query<{ deployment: string | null }>(
            `select deployment from usage_events where account_id = $1 and http_status = 499`,
            [customer.accountId],
          )
        ).rows[0],
    );
    expect(row.deployment).toBeNull();
  });
});
