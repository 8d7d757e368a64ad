import { request } from 'node:http';
import type { LinkedUpstream } from '../../src/lib/link/linked-upstream.js';
import { UpstreamClient } from '../../src/lib/upstream/client.js';
import { type CallHead, HttpUpstream, type Upstream } from '../../src/lib/upstream/upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { callHead, Heard } from '../support/heard.js';
import { frame, LINK_PROTOCOL, type LinkEnd, opening, openLink } from '../support/link-end.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { linkTo } from '../support/proxy-link.js';
import {
  chat,
  DONE_EVENT,
  delta,
  FULL_STREAM,
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { routes } from './routes.js';
import { ask, newKey } from './support.js';

const MIB = 1024 * 1024;

describe('a link to the model proxy', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let key: string;
  let link: LinkedUpstream;
  let http: HttpUpstream;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    const models = ['gateway/fast', 'gateway/embed'];
    proxy = await startTestProxy(db, {
      config: routes(models.map((model, index) => ({ model, id: `node-${index}`, url: node.url }))),
      settings: { numRetries: 0, allowedFails: 1_000 },
    });
    key = await newKey(proxy);
    const url = new URL(proxy.url);
    http = new HttpUpstream(new UpstreamClient({ url, connectTimeoutMs: 5_000 }), '');
    link = await linkTo(proxy);
  });
  afterAll(async () => {
    link.destroy();
    http.destroy();
    await proxy.close();
    await node.close();
    await db.close();
  });

  function call(upstream: Upstream, body: unknown, head: Partial<CallHead> = {}): Heard {
    const heard = new Heard();
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    heard.carrier = upstream.call(callHead({ authorization: `Bearer ${key}`, ...head }), bytes, heard);
    return heard;
  }

  /** With its master key. */
  async function rawLink(): Promise<LinkEnd> {
    const { end } = await openLink(proxy.url, proxy.masterKey);
    return end!;
  }

  const large = (bytes: number): Script => chat({ padding: 'x'.repeat(bytes) });
  const broken: Script = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta('Hel'), () => response.destroy());
  };
  const embedding: Script = raw(200, '{"object":"list","model":"x","data":[]}');
  const streamed = { stream: true };
  const none = { authorization: 'Bearer sk-nobody-0123456789' };
  const answers: [string, Script, unknown, Partial<CallHead>?][] = [
    ['a whole answer', chat(), ask('Hi')],
    ['a stream', stream(FULL_STREAM), ask('Hi', streamed), streamed],
    ['an answer in one event', stream([FULL_STREAM.join('')]), ask('Hi', streamed), streamed],
    [
      'a stream of large events',
      stream([delta('x'.repeat(700_000)), DONE_EVENT]),
      ask('Hi', streamed),
      streamed,
    ],
    ['embeddings', embedding, { model: 'gateway/embed', input: 'x' }, { endpoint: 'embeddings' }],
    ['an answer of 300 KiB', large(300 * 1024), ask('Hi')],
    ['an answer of 40 MiB', large(40 * MIB), ask('Hi')],
    ['an answer above 64 MiB', large(64 * MIB), ask('Hi')],
    ['a body of 5 MiB', chat(), ask('x'.repeat(5 * MIB))],
    ['a body that is too large', chat(), ask('x'.repeat(12 * MIB))],
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
    ['a model that is none', chat(), ask('Hi', { model: 'none' })],
    ['a body that is none', chat(), []],
    ['an empty body', chat(), Buffer.alloc(0)],
    ['a key that is none', chat(), ask('Hi'), none],
    ['no key', chat(), ask('Hi'), { authorization: 'Basic x' }],
    ['the master key', chat(), ask('Hi'), { authorization: 'Bearer master' }],
  ];
  test.each(answers)(
    'gives the same as HTTP: %s',
    async (_what, script, body, head = {}) => {
      node.answer(script);
      const fields =
        head.authorization === 'Bearer master' ? { authorization: `Bearer ${proxy.masterKey}` } : head;
      const overHttp = await call(http, body, fields).done();
      const overLink = await call(link, body, fields).done();
      expect(link.linked).toBe(true);
      const [expected, told] = [overHttp.told, overLink.told];
      expect(told.body === expected.body).toBe(true);
      expect({ ...told, body: '' }).toEqual({ ...expected, body: '' });
      expect(told.status).toBeGreaterThanOrEqual(200);
    },
    60_000,
  );

  test('reaches the node with the same bytes as HTTP', async () => {
    node.answer(chat());
    const body = ask('x'.repeat(3 * MIB));
    await call(http, body).done();
    await call(link, body).done();
    const [overHttp, overLink] = node.seen.slice(-2);
    expect(overLink!.body === overHttp!.body).toBe(true);
    expect(overLink!.headers).toEqual(overHttp!.headers);
  });

  test('is granted to the master key alone', async () => {
    for (const token of [key, 'sk-nobody-0123456789']) {
      expect((await openLink(proxy.url, token)).status).toBe('HTTP/1.1 401 Unauthorized');
    }
  });

  test('is no other upgrade, which is answered as if it asked for none', async () => {
    const asked = async (path: string, upgrade: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { connection: 'Upgrade', upgrade, authorization: `Bearer ${key}` };
        const sent = request(`${proxy.url}${path}`, { headers, agent: false });
        sent.on('response', (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        sent.on('upgrade', () => reject(new Error('upgraded')));
        sent.on('error', reject).end();
      });
    expect(await asked('/v1/models', 'h2c')).toBe(200);
    expect(await asked('/v1/models', LINK_PROTOCOL)).toBe(200);
    expect(await asked('/link', 'websocket')).toBe(404);
  });

  test('cuts the node off when the answer is cancelled, before its first byte and in a stream', async () => {
    const aborted = () => node.seen.at(-1)!.aborted;
    const before = node.seen.length;
    node.answer(() => undefined);
    const waiting = call(link, ask('Hi'));
    await until(() => node.seen.length === before + 1);
    waiting.carrier!.abort(waiting);
    await soonerThan(1_000, aborted, 'the node is left');
    node.answer(stream([delta('Hel')], { finish: false }));
    const reading = call(link, ask('Hi', streamed), streamed);
    await until(() => reading.bytes > 0);
    reading.carrier!.abort(reading);
    await soonerThan(1_000, aborted, 'the node is left');
  });

  test('cuts the nodes off when the edge is gone', async () => {
    node.answer(() => undefined);
    const end = await rawLink();
    const body = JSON.stringify(ask('Hi'));
    const before = node.seen.length;
    end.send(opening(0, `Bearer ${key}`, body.length, body), opening(1, `Bearer ${key}`, body.length, body));
    await until(() => node.seen.length === before + 2);
    end.socket.resetAndDestroy();
    await soonerThan(
      1_000,
      () => node.seen.slice(before).every(({ aborted }) => aborted),
      'the nodes are left',
    );
  });

  test('holds a node back whose answer is not read, and no other call', async () => {
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
    const slow = new Heard();
    slow.pausing = true;
    const body = Buffer.from(JSON.stringify(ask('Hi', streamed)));
    slow.carrier = link.call(callHead({ authorization: `Bearer ${key}`, ...streamed }), body, slow);
    await until(() => slow.pieces.length > 0);
    let last = -1;
    await until(
      () => {
        const stands = last === sent;
        last = sent;
        return stands;
      },
      { intervalMs: 200 },
    );
    // The rest is in the buffers of the system, on the way from the node.
    expect(sent).toBeLessThan(2_000);
    const [before] = [sent];
    node.answer(chat());
    expect((await call(link, ask('Hi')).done()).head?.status).toBe(200);
    expect(sent).toBe(before);
    slow.pausing = false;
    slow.carrier.resume(slow);
    await slow.done();
    expect([slow.ends, slow.bytes]).toEqual([1, 4_000 * event.length + DONE_EVENT.length]);
  });

  test('sends an answer no further than its credit, and the rest once there is more', async () => {
    node.answer(large(400 * 1024));
    const end = await rawLink();
    const body = JSON.stringify(ask('Hi'));
    end.send(opening(0, `Bearer ${key}`, body.length, body));
    const bytes = () => end.of('data').reduce((sum, { payload }) => sum + payload.length, 0);
    await until(() => bytes() === 128 * 1024);
    node.answer(chat());
    end.send(opening(1, `Bearer ${key}`, body.length, body));
    await end.got('end');
    expect(bytes()).toBeLessThan(129 * 1024);
    const credit = Buffer.alloc(4);
    credit.writeUInt32BE(128 * 1024);
    end.send(frame('credit', 0, credit));
    await until(() => bytes() > 255 * 1024);
    end.send(frame('credit', 0, credit), frame('cancel', 0));
    expect((await end.got('cut')).map(({ id }) => id)).toEqual([0]);
    end.socket.destroy();
  });

  test('sends a stream of small events no further than its credit either', async () => {
    const event = delta('x'.repeat(1_000));
    node.answer(stream(Array.from({ length: 300 }, () => event)));
    const end = await rawLink();
    const body = JSON.stringify(ask('Hi', streamed));
    end.send(opening(0, `Bearer ${key}`, body.length, body));
    const bytes = () => end.of('data').reduce((sum, { payload }) => sum + payload.length, 0);
    await until(() => bytes() >= 128 * 1024);
    end.send(frame('ping', 0));
    await end.got('pong');
    expect([bytes(), end.of('end').length]).toEqual([128 * 1024, 0]);
    const credit = Buffer.alloc(4);
    credit.writeUInt32BE(128 * 1024);
    end.send(frame('credit', 0, credit));
    await until(() => bytes() === 256 * 1024);
    end.send(frame('credit', 0, credit));
    await end.got('end');
    expect(Buffer.concat(end.of('data').map(({ payload }) => payload)).toString()).toBe(event.repeat(300));
    end.socket.destroy();
  });

  test('refuses a call without a key before its body has come, and goes on', async () => {
    const end = await rawLink();
    end.send(opening(0, none.authorization, 5 * MIB), opening(1, `Bearer ${key}`, 13 * MIB));
    const heads = await end.got('head', 2);
    expect(heads.map(({ payload }) => payload.readUInt16BE(1)).sort()).toEqual([401, 413]);
    await end.got('end', 2);
    // What was already on its way belongs to nobody.
    end.send(
      frame('body', 0, 'xxx'),
      frame('cancel', 0),
      frame('credit', 1, Buffer.alloc(4)),
      frame('ping', 0),
    );
    await end.got('pong');
    end.socket.destroy();
  });

  test.each([
    ['a kind that is none', () => frame(99, 0)],
    ['frames that only the proxy sends', () => frame('head', 0, 'xxxxxxx')],
    ['an open that is too short', () => frame('open', 0, 'x')],
    ['an open that contradicts itself', () => opening(0, `Bearer ${key}`, 1, 'too much')],
    [
      'two opens with one number',
      () => Buffer.concat([opening(0, `Bearer ${key}`, 9), opening(0, `Bearer ${key}`, 9)]),
    ],
    ['a number that is too high', () => opening(70_000, `Bearer ${key}`, 9)],
    [
      'more of a body than was said',
      () => Buffer.concat([opening(0, `Bearer ${key}`, 9), frame('body', 0, '0123456789')]),
    ],
    ['a credit that is none', () => Buffer.concat([opening(0, `Bearer ${key}`, 9), frame('credit', 0, 'x')])],
    [
      'credit for what was not sent',
      () => Buffer.concat([opening(0, `Bearer ${key}`, 9), frame('credit', 0, 'xxxx')]),
    ],
    ['a frame that is too long', () => Buffer.alloc(64, 0xff)],
    ['HTTP', () => Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')],
  ])('ends with %s, and nothing else does', async (_what, bytes) => {
    const end = await rawLink();
    end.send(bytes());
    await until(() => end.closed);
    node.answer(chat());
    expect((await call(link, ask('Hi')).done()).head?.status).toBe(200);
    expect(link.linked).toBe(true);
  });
});

describe('a body over a link that does not come', () => {
  test('is given up', async () => {
    const db = await createTestDatabase();
    const proxy = await startTestProxy(db, { bounds: { requestTimeoutMs: 400, checkIntervalMs: 50 } });
    const { end } = await openLink(proxy.url, proxy.masterKey);
    end!.send(opening(0, `Bearer ${proxy.masterKey}`, 100, 'x'));
    expect((await end!.got('cut')).map(({ id }) => id)).toEqual([0]);
    end!.socket.destroy();
    await proxy.close();
    await db.close();
  });
});

describe('an answer over a link that nobody reads', () => {
  test('is given up, its node is cut off, and the link goes on', async () => {
    const db = await createTestDatabase();
    const node = await startScriptedUpstream();
    const proxy = await startTestProxy(db, {
      config: routes([{ model: 'gateway/fast', id: 'node', url: node.url }]),
      bounds: { stalledReaderMs: 300, checkIntervalMs: 50 },
    });
    const { end } = await openLink(proxy.url, proxy.masterKey);
    node.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 1_000; i++) response.write(delta('x'.repeat(10_000)));
    });
    const body = JSON.stringify(ask('Hi', { stream: true }));
    end!.send(opening(0, `Bearer ${proxy.masterKey}`, body.length, body));
    await end!.got('data');
    await end!.got('cut');
    await until(() => node.seen[0]!.aborted);
    node.answer(chat());
    end!.send(opening(0, `Bearer ${proxy.masterKey}`, body.length, body));
    await end!.got('head', 2);
    end!.socket.destroy();
    await proxy.close();
    await node.close();
    await db.close();
  });
});

describe('a model proxy that was suspended', () => {
  test('blames no caller for that time', async () => {
    const db = await createTestDatabase();
    const node = await startScriptedUpstream();
    const proxy = await startTestProxy(db, {
      config: routes([{ model: 'gateway/fast', id: 'node', url: node.url }]),
      // What is more than five seconds between two checks is time in which the process was suspended.
      bounds: { requestTimeoutMs: 6_800, checkIntervalMs: 50 },
    });
    const { end } = await openLink(proxy.url, proxy.masterKey);
    const body = JSON.stringify(ask('Hi'));
    node.answer(chat());
    end!.send(opening(0, `Bearer ${proxy.masterKey}`, body.length, body.slice(0, 9)), frame('ping', 0));
    await end!.got('pong');
    // It runs on this thread.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_000);
    // Later than the check.
    end!.send(frame('ping', 0));
    await end!.got('pong', 2);
    end!.send(frame('body', 0, body.slice(9)));
    await end!.got('end');
    expect(end!.of('head')[0]!.payload.readUInt16BE(1)).toBe(200);
    end!.socket.destroy();
    await proxy.close();
    await node.close();
    await db.close();
  });
});

describe('a model proxy that closes', () => {
  test('lets calls on a link end, and takes no new one', async () => {
    const db = await createTestDatabase();
    const proxy = await startTestProxy(db);
    const key = await newKey(proxy);
    const { end } = await openLink(proxy.url, proxy.masterKey);
    const idle = (await openLink(proxy.url, proxy.masterKey)).end!;
    const link = await linkTo(proxy);
    const heard = new Heard();
    // It has two seconds to end: a tenth of that where its pauses aren't longer than they are to be.
    const body = Buffer.from(
      JSON.stringify(ask('[[sim ttft_ms=0 chunk_ms=10 words=20]] x', { stream: true })),
    );
    heard.carrier = link.call(callHead({ authorization: `Bearer ${key}`, stream: true }), body, heard);
    await until(() => heard.bytes > 0);
    const closing = proxy.close();
    await Promise.all([end!.got('drain'), idle.got('drain')]);
    expect(link.linked).toBe(false);
    await heard.done();
    expect(heard.body.toString().endsWith('data: [DONE]\n\n')).toBe(true);
    // These two don't end by themselves: their time runs out.
    await closing;
    await until(() => end!.closed && idle.closed);
    link.destroy();
    await db.close();
  });
});
