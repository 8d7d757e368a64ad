import type { ServerResponse } from 'node:http';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy, type TestProxyOptions } from '../support/proxy.js';
import {
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { type Node, routes } from './routes.js';
import { ask, newKey, post } from './support.js';

const PING = ': ping\n\n';
const CHUNK = 'data: {"model":"x","choices":[]}\n\n';
const DONE = 'data: [DONE]\n\n';
const PING_EVERY_MS = 20;
const IDLE_MS = 300;

/** Begins a stream whose front sends comments for as long as it is open, whatever its engine does. */
function pinging(
  response: ServerResponse,
  first = '',
  onPing: (pings: number) => void = () => undefined,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first + PING);
  let pings = 0;
  const front = setInterval(() => {
    response.write(PING);
    onPing(++pings);
  }, PING_EVERY_MS);
  response.on('close', () => clearInterval(front));
}

/** The front of a node lives and sends comments, while its engine may hang. */
describe('comments in a stream', () => {
  let db: TestDatabase;
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    first = await startScriptedUpstream();
    second = await startScriptedUpstream();
    second.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(CHUNK + DONE),
    );
  });
  afterEach(async () => {
    await proxy.close();
    await first.close();
    await second.close();
  });
  afterAll(() => db.close());

  async function start(script: Script, own: Partial<Node> = {}, options: TestProxyOptions = {}) {
    first.answer(script);
    const nodes = [
      { model: 'gateway/fast', id: 'first', url: first.url, ...own },
      { model: 'gateway/fast', id: 'second', url: second.url },
    ];
    const settings = { cooldown_time: 60, retry_after: 0 };
    proxy = await startTestProxy(db, {
      config: routes(nodes, settings),
      idleMs: IDLE_MS,
      random: () => 0,
      ...options,
    });
  }
  const stream = () => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask('x', { stream: true }));
  const ANSWER = (CHUNK + DONE).replace('"x"', '"gateway/fast"');
  const stateOf = async (id: string) => {
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/model/info`, { headers })).json()) as {
      data: { model_info: { id: string }; status: string; consecutive_failures: number }[];
    };
    const { status, consecutive_failures: fails } = data.find((one) => one.model_info.id === id)!;
    return { status, fails };
  };

  test("don't count as the first byte: a node that sends nothing else times out", async () => {
    await start((_request, response) => pinging(response), { timeout: 0.5 });
    expect(await (await stream()).text()).toBe(ANSWER);
    expect(await stateOf('first')).toEqual({ status: 'serving', fails: 1 });
    await until(() => first.seen[0]!.aborted);
  });

  test.each([
    ['an error', 'data: {"error":{"message":"x","code":500}}\n\n'],
    ['an error on a line of its own', 'error: {"message":"x","code":500}\n\n'],
    ['its end', ''],
    ['no JSON', 'data: what\n\n'],
  ])('leave the call to another node when %s follows', async (_what, event) => {
    await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(PING);
      setImmediate(() => response.end(event));
    });
    expect(await (await stream()).text()).toBe(ANSWER);
    expect((await stateOf('first')).fails).toBe(1);
  });

  test('let a call wait for its first chunk longer than the limit between chunks', async () => {
    await start((_request, response) =>
      pinging(response, '', (pings) => {
        if (pings === (2 * IDLE_MS) / PING_EVERY_MS) response.end(CHUNK + DONE);
      }),
    );
    expect(await (await stream()).text()).toBe(ANSWER);
    expect(second.seen).toHaveLength(0);
  });

  test("don't replace missing chunks", async () => {
    await start((_request, response) => pinging(response, CHUNK));
    await expect(stream().then((response) => response.text())).rejects.toThrow();
    await until(async () => (await stateOf('first')).fails === 1);
  });

  test('pass between two chunks', async () => {
    await start((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(PING + CHUNK + PING + CHUNK + DONE),
    );
    const chunk = CHUNK.replace('"x"', '"gateway/fast"');
    expect(await (await stream()).text()).toBe(chunk + PING + chunk + DONE);
  });

  test("don't keep a node in use that fails all other calls", async () => {
    let open = 0;
    let later: (() => void)[] = [];
    await start((request, response) => {
      const fail = () => raw(500, '{}')(request, response);
      if (request.body.includes('"stream"')) {
        open++;
        pinging(response, '', () => {
          for (const answer of later) answer();
          later = [];
        });
      } else if (request.body.includes('"ping"')) later.push(fail);
      else fail();
    });
    const leaving = new AbortController();
    const waiting = fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await newKey(proxy)}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('x', { stream: true })),
      signal: leaving.signal,
    });
    await until(() => open === 1);
    second.answer(raw(200, '{}'));
    for (let i = 0; i < 3; i++) await post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask('x'));
    expect(await stateOf('first')).toMatchObject({ status: 'parked' });
    leaving.abort();
    await expect(waiting.then((response) => response.text())).rejects.toThrow();
  });
});
