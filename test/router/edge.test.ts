import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  createTestKey,
  postChat,
  startTestEdge,
  type TestEdge,
  type TestKey,
  usageOf,
} from '../support/edge.js';
import { startTestRouter, type TestRouter } from '../support/router.js';
import {
  chat,
  DONE_EVENT,
  delta,
  FULL_STREAM,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';

describe('an edge with the router in process', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let router: TestRouter;
  let edge: TestEdge;
  let virtualKey: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    router = await startTestRouter(db, {
      config: routes([
        { model: 'gateway/fast', id: 'node-0', url: node.url },
        { model: 'gateway/qwen-fast', id: 'node-1', url: node.url, streamTimeout: 1 },
      ]),
      settings: { numRetries: 0, allowedFails: 1_000 },
      idleMs: 60_000,
      timeoutMs: 60_000,
    });
    virtualKey = await router.newKey();
    edge = await startTestEdge(db, { models: router });
  });
  afterAll(async () => {
    await edge.close();
    await router.close();
    await node.close();
    await db.close();
  });

  const customer = (): Promise<TestKey> => createTestKey(db, { virtualKey });

  test('bills the usage that the node reports, and records which deployment answered', async () => {
    const caller = await customer();
    node.answer(stream(FULL_STREAM));
    const streamed = await (await postChat(edge.url, caller.key, { stream: true })).text();
    node.answer(chat());
    const whole = await postChat(edge.url, caller.key);
    expect(streamed.endsWith(DONE_EVENT)).toBe(true);
    expect(whole.status).toBe(200);
    await edge.settled();
    const events = await usageOf(db, caller.accountId);
    expect(
      events.map(({ status, input_tokens, output_tokens }) => [status, input_tokens, output_tokens]),
    ).toEqual([
      ['success', 12, 34],
      ['success', 12, 34],
    ]);
    const { rows } = await db.pool.query<{ deployment: string }>(
      'select distinct deployment from usage_events where account_id = $1',
      [caller.accountId],
    );
    expect(rows).toEqual([{ deployment: 'node-0' }]);
  });

  test('refuses a call without a virtual key, or with a deleted one, before it reaches a node', async () => {
    const before = node.seen.length;
    const without = await createTestKey(db, { virtualKey: null });
    const refused = await postChat(edge.url, without.key);
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'upstream_unconfigured',
    ]);
    const removed = await createTestKey(db, { virtualKey: 'sk-of-nobody-0123456789' });
    const failed = await postChat(edge.url, removed.key);
    expect([failed.status, ((await failed.json()) as { error: { code: string } }).error.code]).toEqual([
      502,
      'upstream_error',
    ]);
    expect(node.seen.length).toBe(before);
  });

  test('ends the call to the node within a second after the client has left', async () => {
    const caller = await customer();
    node.answer(stream([delta('Hel')], { finish: false }));
    const leaving = new AbortController();
    const response = await fetch(`${edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({
        model: 'gateway/fast',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    await soonerThan(1_000, () => node.seen.at(-1)!.aborted, 'the node is left');
    await edge.settled();
    expect((await usageOf(db, caller.accountId))[0]).toMatchObject({
      client_aborted: true,
      output_tokens: 1,
    });
  });

  test('ends a stream that sends nothing but comments after its timeout', async () => {
    const caller = await customer();
    node.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('Hel'));
      const comments = setInterval(() => response.write(': ping\n\n'), 20);
      response.on('close', () => clearInterval(comments));
    });
    const text = await (
      await postChat(edge.url, caller.key, { stream: true, model: 'gateway/qwen-fast' })
    ).text();
    expect(text).toContain(':\n\n');
    expect(text).toContain('"code":"upstream_');
    expect(text).not.toContain('[DONE]');
    await until(() => node.seen.at(-1)!.aborted);
  });

  test("doesn't delay other clients for one that doesn't read", async () => {
    const [slow, quick] = [await customer(), await customer()];
    const event = delta('x'.repeat(10_000));
    node.answer(stream([...Array.from({ length: 1_000 }, () => event), DONE_EVENT]));
    const unread = await postChat(edge.url, slow.key, { stream: true });
    node.answer(chat());
    for (let i = 0; i < 20; i++) expect((await postChat(edge.url, quick.key)).status).toBe(200);
    expect((await unread.text()).length).toBe(1_000 * event.length + DONE_EVENT.length);
  });

  test('lists the simulator as the owner of a model only while it answers for the model', async () => {
    const caller = await customer();
    const owner = async () => {
      const headers = { authorization: `Bearer ${caller.key}` };
      const { data } = (await (await fetch(`${edge.url}/v1/models`, { headers })).json()) as {
        data: { id: string; owned_by: string }[];
      };
      return data.find(({ id }) => id === 'gateway/fast')!.owned_by;
    };
    expect(await owner()).toBe('gateway');
    const simulated = { model: 'gateway/fast', id: 'node-0', url: node.url };
    router.reload(routes([simulated]).replace(`${node.url}/v1`, 'os.environ/SIMULATOR_API_BASE'));
    expect(await owner()).toBe('simulator');
    router.reload(routes([simulated]));
  });
});
