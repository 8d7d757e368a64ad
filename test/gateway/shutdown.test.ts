import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCE_LIMITS } from '../../src/gateway/resource-limits.js';
import { Journal } from '../faults/rig/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge, usageOf } from '../support/edge.js';
import { checkInvariants } from '../support/invariants.js';
import {
  chat,
  chunkEvent,
  DONE_EVENT,
  delta,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { createTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = new AbortController();
  const limit = delay(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error(`took longer than ${ms} ms`);
  });
  await Promise.race([work, limit]).finally(() => late.abort());
  await limit.catch(() => undefined);
}

describe('an edge that stops', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
  });
  afterAll(async () => {
    await upstream.close();
    await db.close();
  });

  test('completes calls in flight, accepts no new connection, and writes all events', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const { key, accountId } = await createTestKey(db);
    let release = (): void => undefined;
    const gate = new Promise<void>((done) => {
      release = done;
    });
    upstream.answer(async (request, response) => {
      await gate;
      chat()(request, response);
    });
    const calls = Array.from({ length: 20 }, () => postChat(edge.url, key, { max_tokens: 10 }));
    await until(() => upstream.seen.length === 20);
    const closing = edge.edge.close(10_000);
    await until(
      () =>
        fetch(`${edge.url}/health`).then(
          () => false,
          () => true,
        ),
      { what: 'the port to be closed' },
    );
    release();
    const answers = await Promise.all(calls);
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(answers.map((answer) => answer.headers.get('connection'))).toEqual(Array(20).fill('close'));
    await closing;
    expect(await usageOf(db, accountId)).toHaveLength(20);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('ends remaining calls at the drain limit with an error event, free of charge', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const { key, accountId } = await createTestKey(db);
    upstream.answer(stream([delta('a'), delta('b')], { finish: false }));
    const response = await postChat(edge.url, key, { stream: true });
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('"b"')) text += Buffer.from((await reader.read()).value!).toString();
    const closing = edge.edge.close(50);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
    await closing;
    expect(text).toMatch(/data: \{"error":\{.*"code":"service_unavailable".*\}\}\n\n$/);
    expect(text).not.toContain(DONE_EVENT);
    expect(await usageOf(db, accountId)).toEqual([
      expect.objectContaining({
        status: 'error',
        error_code: 'service_unavailable',
        cost: '0.000000000000',
        client_aborted: false,
      }),
    ]);
  });

  test('serves a request that is already under way on an open connection', async () => {
    const edge = await startTestEdge(db, {
      upstreamUrl: upstream.url,
      bounds: { restMs: RESOURCE_LIMITS.restMs },
    });
    const { key } = await createTestKey(db);
    upstream.answer(chat());
    const link = await createTcpProxy(Number(new URL(edge.url).port));
    link.delay(50);
    const url = `http://127.0.0.1:${link.port}`;
    const journal = new Journal();
    // One connection each.
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const call = (agent: Agent) => journal.call(url, key, {}, { agent });
    await Promise.all(agents.map(call));
    const before = upstream.seen.length;
    const callers = agents.map(async (agent) => {
      for (let lasts = true; lasts; ) {
        const { complete, closes } = await call(agent);
        lasts = complete && !closes;
      }
    });
    await until(() => upstream.seen.length >= before + agents.length);
    const closing = edge.edge.close(10_000);
    await Promise.all(callers);
    await closing;
    expect(journal.tally()).toEqual({ '200': journal.entries.length });
    for (const agent of agents) agent.destroy();
    await link.close();
  });

  test('closes a kept-alive connection after a short rest', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url, bounds: { restMs: 200 } });
    const socket = await connected(edge.url);
    const closed = once(socket, 'close');
    const answered = once(socket, 'data');
    socket.write('GET /health HTTP/1.1\r\nhost: h\r\n\r\n');
    expect(String((await answered)[0])).toMatch(/^connection: keep-alive\r$/im);
    await within(5_000, edge.edge.close(60_000));
    await closed;
  });

  test('records a call whose client has left and whose usage is still expected', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const { key, accountId } = await createTestKey(db);
    const finish = chunkEvent({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] });
    upstream.answer(stream([finish], { finish: false }));
    const reader = (await postChat(edge.url, key, { stream: true })).body!.getReader();
    await reader.read();
    await reader.cancel();
    await within(10_000, edge.edge.close(10_000));
    expect(await usageOf(db, accountId)).toEqual([
      expect.objectContaining({ status: 'success', client_aborted: true, estimated: true, output_tokens: 1 }),
    ]);
  });

  test('does not wait for a connection that never sent a byte', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const socket = await connected(edge.url);
    const closed = once(socket, 'close');
    // What a browser opens ahead of need must not use up the time to drain.
    await within(5_000, edge.edge.close(60_000));
    await closed;
  });

  test('cuts an incomplete request at the drain limit', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const socket = await connected(edge.url);
    const closed = once(socket, 'close');
    await new Promise((sent) => socket.write('GET /v1/models HTTP/1.1\r\nhost: h', sent));
    await within(5_000, edge.edge.close(50));
    await closed;
  });

  test('lets a stream that ends in time end normally', async () => {
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const { key, accountId } = await createTestKey(db);
    upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('a'));
      // Not a wait for a condition: the upstream's own pace, past the moment at which the stop begins.
      await delay(200);
      response.end(usageEvent(3, 1) + DONE_EVENT);
    });
    const response = await postChat(edge.url, key, { stream: true });
    const closing = edge.edge.close(10_000);
    expect(await response.text()).toBe(delta('a') + DONE_EVENT);
    await closing;
    expect(await usageOf(db, accountId)).toEqual([
      expect.objectContaining({ status: 'success', input_tokens: 3 }),
    ]);
  });
});
