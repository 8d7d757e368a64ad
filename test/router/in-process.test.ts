import { createLogger } from '../../src/lib/logger.js';
import { UpstreamClient } from '../../src/lib/upstream/client.js';
import { type CallHead, HttpUpstream, type Upstream } from '../../src/lib/upstream/upstream.js';
import { UpstreamTimeoutError } from '../../src/lib/upstream/upstream-handler.js';
import { RouterUpstream } from '../../src/router/router-upstream.js';
import { routes } from '../proxy/routes.js';
import { ask } from '../proxy/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { callHead, Heard } from '../support/heard.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  DONE_EVENT,
  delta,
  embeddings,
  FULL_STREAM,
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
/** Long enough for any machine, so that nothing times out. */
const LONG_MS = 120_000;
const patientHandler = (): Heard => new Heard({ headersTimeoutMs: LONG_MS, bodyTimeoutMs: LONG_MS });

describe('the router in process', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  /** The same router over HTTP, for comparison. */
  let proxy: TestProxy;
  let key: string;
  let http: HttpUpstream;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    const models = ['gateway/fast', 'gateway/embed'];
    proxy = await startTestProxy(db, {
      config: routes(models.map((model, index) => ({ model, id: `node-${index}`, url: node.url }))),
      settings: { numRetries: 0, allowedFails: 1_000, cooldownMs: 0 },
      timeoutMs: LONG_MS,
      idleMs: LONG_MS,
    });
    key = await proxy.newKey();
    http = new HttpUpstream(new UpstreamClient({ url: new URL(proxy.url), connectTimeoutMs: 5_000 }), '');
  });
  afterAll(async () => {
    http.destroy();
    await proxy.close();
    await node.close();
    await db.close();
  });

  function call(
    upstream: Upstream,
    body: unknown,
    head: Partial<CallHead> = {},
    heard = patientHandler(),
  ): Heard {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    heard.handle = upstream.call(callHead({ authorization: `Bearer ${key}`, ...head }), bytes, heard);
    return heard;
  }

  const large = (bytes: number): Script => chat({ padding: 'x'.repeat(bytes) });
  const broken: Script = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta('Hel'), () => response.destroy());
  };
  const streamed = { stream: true };
  const none = { authorization: 'Bearer sk-nobody-0123456789' };

  const answers: [string, Script, unknown, Partial<CallHead>?][] = [
    ['a whole answer', chat(), ask('Hi')],
    ['a stream', stream(FULL_STREAM), ask('Hi', streamed), streamed],
    [
      'a stream of large events',
      stream([delta('x'.repeat(700_000)), DONE_EVENT]),
      ask('Hi', streamed),
      streamed,
    ],
    ['embeddings', embeddings(), { model: 'gateway/embed', input: 'x' }, { endpoint: 'embeddings' }],
    ['an answer of 300 KiB', large(300 * 1024), ask('Hi')],
    ['an answer of 40 MiB', large(40 * MIB), ask('Hi')],
    ['an answer above 64 MiB', large(64 * MIB), ask('Hi')],
    ['a body of 5 MiB', chat(), ask('x'.repeat(5 * MIB))],
    ['a stream that breaks', broken, ask('Hi', streamed), streamed],
    [
      'an error in a stream',
      stream([FULL_STREAM[0]!, 'data: {"error":{"message":"no"}}\n\n']),
      ask('Hi', streamed),
      streamed,
    ],
    ["a node's refusal", raw(400, '{"error":{"message":"max_tokens is too large"}}'), ask('Hi')],
    ["a node's failure", raw(500, '{"error":{"message":"10.0.0.7 is down"}}'), ask('Hi')],
    ['a node that is busy', raw(429, '{}', { 'retry-after': '7' }), ask('Hi')],
    ['garbage', raw(200, 'garbage'), ask('Hi')],
    ['another content type', raw(200, 'x', { 'content-type': 'text/html' }), ask('Hi')],
    ['a model that does not exist', chat(), ask('Hi', { model: 'none' })],
    ['a body that is not an object', chat(), []],
    ['an empty body', chat(), Buffer.alloc(0)],
    ['an unknown key', chat(), ask('Hi'), none],
    ['no key', chat(), ask('Hi'), { authorization: 'Basic x' }],
  ];
  test.each(answers)(
    'answers the same as over HTTP: %s',
    async (_what, script, body, head = {}) => {
      node.answer(script);
      const expected = (await call(http, body, head).done()).comparable;
      const { comparable } = await call(proxy.upstream, body, head).done();
      expect(comparable.body === expected.body).toBe(true);
      expect({ ...comparable, body: '' }).toEqual({ ...expected, body: '' });
      expect(comparable.status).toBeGreaterThanOrEqual(200);
    },
    60_000,
  );

  test('sends the node the same bytes as over HTTP', async () => {
    node.answer(chat());
    const body = ask('x'.repeat(3 * MIB));
    await call(http, body).done();
    await call(proxy.upstream, body).done();
    const [overHttp, inProcess] = node.seen.slice(-2);
    expect(inProcess!.body === overHttp!.body).toBe(true);
    expect(inProcess!.headers).toEqual(overHttp!.headers);
  });

  test('calls the handler only after `call` has returned, and the node only at the end of the turn', async () => {
    node.answer(chat());
    const before = node.begun();
    const refused = call(proxy.upstream, [], none);
    expect([refused.head, refused.over]).toEqual([undefined, false]);
    const left = call(proxy.upstream, ask('Hi'));
    left.handle!.abort(left);
    await refused.done();
    await call(proxy.upstream, ask('Hi')).done();
    // The call that was aborted in its own turn never reached the node.
    expect(node.begun()).toBe(before + 1);
    expect([left.head, left.over]).toEqual([undefined, false]);
  });

  test('ends the call to the node when the handler aborts, before the first byte and during a stream', async () => {
    const aborted = () => node.seen.at(-1)!.aborted;
    const before = node.seen.length;
    node.answer(() => undefined);
    const waiting = call(proxy.upstream, ask('Hi'));
    await until(() => node.seen.length === before + 1);
    waiting.handle!.abort(waiting);
    await soonerThan(1_000, aborted, 'the node is left');
    node.answer(stream([delta('Hel')], { finish: false }));
    const reading = call(proxy.upstream, ask('Hi', streamed), streamed);
    await until(() => reading.bytes > 0);
    reading.handle!.abort(reading);
    await soonerThan(1_000, aborted, 'the node is left');
    expect([waiting.over, reading.over]).toEqual([false, false]);
  });

  test('ends a whole answer that never completes when the timeout of its handler is reached', async () => {
    node.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pad = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(pad));
    });
    const hurried = new Heard({ headersTimeoutMs: 500, bodyTimeoutMs: LONG_MS });
    const heard = await call(proxy.upstream, ask('Hi'), {}, hurried).done();
    expect([heard.head, heard.errors]).toEqual([undefined, [expect.any(UpstreamTimeoutError)]]);
    await until(() => node.seen.at(-1)!.aborted, { what: 'the node to be left' });
  });

  test("returns the error of a handler that throws to that handler, and doesn't blame the node", async () => {
    const own = new Error('of the handler');
    class Throwing extends Heard {
      override onData(): void {
        throw own;
      }
    }
    node.answer(stream(FULL_STREAM));
    const thrown = await call(proxy.upstream, ask('Hi', streamed), streamed, new Throwing()).done();
    expect(thrown.errors).toEqual([own]);
    const { fails } = proxy.router.current().states()[0]!;
    expect(fails).toBe(0);
  });

  test("answers its own failure with a 500 that doesn't reveal the cause", async () => {
    const failing = {
      ...proxy.router.calls,
      router: () => {
        throw new Error('of ours');
      },
    };
    const upstream = new RouterUpstream(failing, proxy.keys, createLogger('router', 'silent'));
    const { comparable } = await call(upstream, ask('Hi')).done();
    expect(comparable.status).toBe(500);
    expect(comparable.body).not.toContain('of ours');
  });

  test("pauses a node whose answer isn't read, without delaying other calls", async () => {
    const event = delta('x'.repeat(10_000));
    let sent = 0;
    node.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (): void => {
        for (let open = true; open && sent < 4_000; sent++) open = response.write(event);
        if (sent === 4_000) response.end(DONE_EVENT);
        else response.once('drain', write);
      };
      write();
    });
    const slow = patientHandler();
    slow.pausing = true;
    call(proxy.upstream, ask('Hi', streamed), streamed, slow);
    await until(() => slow.pieces.length > 0);
    let last = -1;
    await until(
      () => {
        const isStill = last === sent;
        last = sent;
        return isStill;
      },
      { intervalMs: 200 },
    );
    // The rest is in buffers of the system between the node and the router.
    expect(sent).toBeLessThan(2_000);
    expect(slow.bytes).toBeLessThan(1_000_000);
    const before = sent;
    node.answer(chat());
    expect((await call(proxy.upstream, ask('Hi')).done()).head?.status).toBe(200);
    expect(sent).toBe(before);
    slow.pausing = false;
    slow.handle!.resume(slow);
    await slow.done();
    expect([slow.ends, slow.bytes]).toEqual([1, 4_000 * event.length + DONE_EVENT.length]);
  });
});
