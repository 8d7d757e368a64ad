import { routes } from '../../proxy/routes.js';
import { newKey } from '../../proxy/support.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestEdge,
  type TestKey,
  usageOf,
} from '../../support/edge.js';
import { type LiteLlmDouble, startLiteLlm } from '../../support/litellm.js';
import { startTestProxy, type TestProxy } from '../../support/proxy.js';
import {
  chat,
  DONE_EVENT,
  delta,
  FULL_STREAM,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../../support/scripted-upstream.js';
import { soonerThan } from '../../support/sooner-than.js';
import { createTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

async function isLinked(edge: TestEdge): Promise<boolean> {
  const { values } = await edge.registry.getSingleMetric('gateway_upstream_linked')!.get();
  return values[0]!.value === 1;
}

describe('an edge with a link to its model proxy', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let wire: TcpProxy;
  let edge: TestEdge;
  /** Gives up a second after the last word of its proxy. */
  let hasty: TestEdge;
  let virtualKey: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    proxy = await startTestProxy(db, {
      config: routes([{ model: 'gateway/fast', id: 'node-0', url: node.url }]),
      settings: { numRetries: 0, allowedFails: 1_000 },
    });
    virtualKey = await newKey(proxy);
    wire = await createTcpProxy(Number(new URL(proxy.url).port));
    const options = { upstreamUrl: wire.urlOf(proxy.url), masterKey: proxy.masterKey };
    edge = await startTestEdge(db, options);
    const env = { UPSTREAM_TIMEOUT_SECONDS: '1', UPSTREAM_IDLE_SECONDS: '1' };
    hasty = await startTestEdge(db, { ...options, env });
  });
  afterAll(async () => {
    await hasty.close();
    await edge.close();
    await proxy.close();
    await wire.close();
    await node.close();
    await db.close();
  });
  beforeEach(async () => {
    wire.restore();
    // A call that finds no link asks for one.
    const caller = await createTestKey(db, { virtualKey });
    node.answer(chat());
    for (const one of [edge, hasty]) {
      await until(async () => {
        if (await isLinked(one)) return true;
        await postChat(one.url, caller.key).then((response) => response.text());
        return false;
      });
    }
  });

  const customer = (): Promise<TestKey> => createTestKey(db, { virtualKey });

  test('bills the same for a call as over HTTP', async () => {
    const caller = await customer();
    node.answer(stream(FULL_STREAM));
    const streamed = await (await postChat(edge.url, caller.key, { stream: true })).text();
    node.answer(chat());
    const whole = await postChat(edge.url, caller.key);
    expect(streamed.endsWith(DONE_EVENT)).toBe(true);
    expect(whole.status).toBe(200);
    expect(await isLinked(edge)).toBe(true);
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

  test('cuts the node off within a second after its client has left', async () => {
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

  test('fails calls with the link as with a connection: 502 before a byte, an error event after it, both free', async () => {
    const caller = await customer();
    const before = node.seen.length;
    node.answer((request, response) => {
      if (!request.body.includes('"stream":true')) return undefined;
      return stream([delta('Hel')], { finish: false })(request, response);
    });
    const unanswered = postChat(edge.url, caller.key);
    const begun = await postChat(edge.url, caller.key, { stream: true });
    const reader = begun.body!.getReader();
    let text = Buffer.from((await reader.read()).value!).toString();
    await until(() => node.seen.length === before + 2);
    wire.reset();
    const failed = await unanswered;
    expect([failed.status, (await errorOf(failed)).code]).toEqual([502, 'upstream_error']);
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString();
    expect(text).toContain('"code":"upstream_error"');
    expect(text).not.toContain('[DONE]');
    await until(() => node.seen.slice(before).every(({ aborted }) => aborted), { timeoutMs: 1_000 });
    await edge.settled();
    expect(await balanceOf(db, caller.accountId)).toBe('1.000000000000');
  });

  test('cuts off a stream of which nothing but comments comes any more', async () => {
    const caller = await customer();
    node.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('Hel'));
      const front = setInterval(() => response.write(': ping\n\n'), 20);
      response.on('close', () => clearInterval(front));
    });
    expect(await isLinked(hasty)).toBe(true);
    const text = await (await postChat(hasty.url, caller.key, { stream: true })).text();
    expect(text).toContain(':\n\n');
    expect(text).toContain('"code":"upstream_timeout"');
    await until(() => node.seen.at(-1)!.aborted);
  });

  test('serves again at once after the proxy has gone and come back, and over a link again', async () => {
    const caller = await customer();
    wire.cut();
    const failed = await postChat(edge.url, caller.key);
    expect([failed.status, (await errorOf(failed)).code]).toEqual([502, 'upstream_error']);
    wire.restore();
    expect((await postChat(edge.url, caller.key)).status).toBe(200);
    await until(async () => {
      expect((await postChat(edge.url, caller.key)).status).toBe(200);
      return isLinked(edge);
    });
  });

  test('times calls out one by one where the proxy is frozen, and answers late ones to nobody', async () => {
    const caller = await customer();
    const other = await customer();
    wire.freeze();
    const failed = await postChat(hasty.url, caller.key);
    expect([failed.status, (await errorOf(failed)).code]).toEqual([504, 'upstream_timeout']);
    wire.restore();
    expect((await postChat(hasty.url, other.key)).status).toBe(200);
    await hasty.settled();
    expect(await balanceOf(db, caller.accountId)).toBe('1.000000000000');
  });

  test('holds nobody up for a client that does not read', async () => {
    const [slow, quick] = [await customer(), await customer()];
    const event = delta('x'.repeat(10_000));
    node.answer(stream([...Array.from({ length: 1_000 }, () => event), DONE_EVENT]));
    const unread = await postChat(edge.url, slow.key, { stream: true });
    node.answer(chat());
    for (let i = 0; i < 20; i++) expect((await postChat(edge.url, quick.key)).status).toBe(200);
    expect(await isLinked(edge)).toBe(true);
    expect((await unread.text()).length).toBe(1_000 * event.length + DONE_EVENT.length);
  });
});

describe('an edge in front of a model proxy that knows no link', () => {
  test('calls it over HTTP', async () => {
    const db = await createTestDatabase();
    const litellm: LiteLlmDouble = await startLiteLlm('sk-master-of-more-than-thirty-two-bytes');
    const edge = await startTestEdge(db, { upstreamUrl: litellm.url, masterKey: litellm.masterKey });
    litellm.keys.set('sk-virtual-of-the-tests', 'someone');
    const caller = await createTestKey(db);
    for (let i = 0; i < 3; i++) expect((await postChat(edge.url, caller.key)).status).toBe(200);
    expect(await isLinked(edge)).toBe(false);
    await edge.close();
    await litellm.close();
    await db.close();
  });
});
