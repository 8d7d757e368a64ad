import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  embeddings,
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { type Node, routes } from './routes.js';
import { ask, post } from './support.js';

const MIB = 1024 * 1024;
const EVENTS = { 'content-type': 'text/event-stream' };
/** Answers the proxy's own probes like a healthy node, and callers by `script`. */
const toCallers =
  (script: Script): Script =>
  (request, response) =>
    request.body.includes('"ping"') ? chat()(request, response) : script(request, response);

/** What one caller can cause must not keep a model from all others. */
describe('a caller whose requests fail', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let standIn: ScriptedUpstream;
  let proxy: TestProxy;
  let parked: unknown[];

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    node = await startScriptedUpstream();
    standIn = await startScriptedUpstream();
    parked = [];
  });
  afterEach(async () => {
    await proxy.close();
    await node.close();
    await standIn.close();
  });
  afterAll(() => db.close());

  async function start(script: Script, more: Partial<Node> = {}, own: object = {}): Promise<void> {
    node.answer(script);
    const nodes = [
      { model: 'gateway/pro', id: 'pro', url: node.url, ...more },
      { model: 'gateway/fast', id: 'fast', url: standIn.url },
    ];
    const settings = { retry_after: 0, fallbacks: [{ 'gateway/pro': ['gateway/fast'] }], ...own };
    const write = (line: string): void => {
      const entry = JSON.parse(line) as { msg: string };
      if (entry.msg.includes('parked')) parked.push(entry);
    };
    const log = pino({ level: 'debug' }, { write }) as never;
    proxy = await startTestProxy(db, { config: routes(nodes, settings), log });
  }
  const keyOf = async (account: string): Promise<string> => {
    const made = await post(`${proxy.url}/key/generate`, proxy.masterKey, { user_id: account });
    return ((await made.json()) as { key: string }).key;
  };
  const call = (key: string, rest: object = {}) =>
    post(`${proxy.url}/v1/chat/completions`, key, ask('x', { model: 'gateway/pro', ...rest }));
  const modelFor = async (key: string): Promise<string> =>
    ((await (await call(key)).json()) as { model: string }).model;
  const asked = () => node.seen.filter(({ body }) => !body.includes('"ping"')).length;
  const probes = () => node.seen.length - asked();

  const quoting = (status: number): Script => raw(status, `{"error":{"message":"${'x'.repeat(100_000)}"}}`);
  const cut: Script = (_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"error":', () => response.destroy());
  };
  const sized =
    (head: Record<string, string>, pieces: readonly (string | Buffer)[]): Script =>
    (_request, response) => {
      response.writeHead(200, head);
      response.on('error', () => undefined);
      for (const piece of pieces) response.write(piece);
      response.end();
    };
  const large = sized(
    { 'content-type': 'application/json' },
    Array<Buffer>(66).fill(Buffer.alloc(MIB, 0x20)),
  );
  const largeEvent = sized(EVENTS, [`data: {"x":"${'x'.repeat(MIB)}"}\n\n`, 'data: [DONE]\n\n']);
  const TOO_LARGE = 'The answer is too large.';

  test.each([
    ['a refusal of 100 kB', quoting(400), {}, 400, 'The model refused the request.'],
    ['one of 100 kB for its size', quoting(413), {}, 502, 'Send fewer or smaller messages'],
    ['a refusal that breaks off', cut, {}, 400, 'The model refused the request.'],
    ['an answer of 66 MiB', large, {}, 400, TOO_LARGE],
    ['an event of 1 MiB', largeEvent, { stream: true }, 400, TOO_LARGE],
  ])(
    'by %s gets that error at once, and the model stays in use',
    async (_what, script, rest, status, message) => {
      await start(script);
      const key = await keyOf('a');
      const response = await call(key, rest);
      expect(response.status).toBe(status);
      expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
      // Neither tried again nor asked whether it is alive.
      expect([asked(), probes()]).toEqual([1, 0]);
      node.answer(chat());
      expect(await modelFor(await keyOf('b'))).toBe('gateway/pro');
      expect(parked).toEqual([]);
    },
  );

  test('by an event of 1 MiB after the first gets a broken stream, and the model stays in use', async () => {
    const first = 'data: {"model":"x","choices":[]}\n\n';
    await start((_request, response) => {
      response.writeHead(200, EVENTS).write(first);
      setImmediate(() => response.write(`data: {"x":"${'x'.repeat(MIB)}"}\n\n`));
    });
    const key = await keyOf('a');
    for (let i = 0; i < 4; i++) {
      await expect(call(key, { stream: true }).then((response) => response.text())).rejects.toThrow();
    }
    expect([asked(), probes()]).toEqual([4, 0]);
    node.answer(chat());
    expect(await modelFor(await keyOf('b'))).toBe('gateway/pro');
  });

  const broken: Script = (_request, response) => {
    response.writeHead(200, EVENTS).end('data: {"model":"x","choices":[]}\n\n');
  };
  test.each([
    ['500', raw(500, '{}'), {}, 3],
    ['503', raw(503, '{"error":{"message":"x"}}'), {}, 3],
    ['garbage', raw(200, 'what'), {}, 3],
    ['a broken stream', broken, { stream: true }, 1],
  ])(
    "alone by %s again and again doesn't take the model from others",
    async (_what, script, rest, triesEach) => {
      await start(toCallers(script));
      const key = await keyOf('a');
      for (let i = 1; i <= 3; i++) {
        await (await call(key, rest)).text();
        expect(asked()).toBe(i * triesEach);
      }
      // Of a stream that breaks it is decided once it is over.
      await until(() => probes() > 0);
      node.answer(chat());
      expect(await modelFor(await keyOf('b'))).toBe('gateway/pro');
      expect([parked, standIn.seen]).toEqual([[], []]);
    },
  );

  test('alone, at a node that fails our probe too, is answered by the fallback in the same call', async () => {
    await start(raw(500, '{}'));
    expect(await modelFor(await keyOf('a'))).toBe('gateway/fast');
    expect(parked).toHaveLength(1);
  });

  test.each([
    ['500', toCallers(raw(500, '{}'))],
    [
      'a connection that breaks with the request on it',
      toCallers((_request, response) => void response.socket!.resetAndDestroy()),
    ],
  ])('by %s with several accounts cools down no node that answers our probe', async (_what, script) => {
    await start(script, {}, { num_retries: 0 });
    for (let i = 0; i < 6; i++) expect((await call(await keyOf(i % 2 ? 'a' : 'b'))).status).toBe(502);
    node.answer(chat());
    expect(await modelFor(await keyOf('c'))).toBe('gateway/pro');
    expect([parked, probes() > 0]).toEqual([[], true]);
  });

  test('at a node that is too busy with streams for our probe cools down nothing', async () => {
    let streaming = 0;
    let over = false;
    await start((request, response) => {
      if (request.body.includes('"ping"')) return;
      if (!request.body.includes('"stream"')) return raw(500, '{}')(request, response);
      streaming++;
      response.writeHead(200, EVENTS);
      const go = setInterval(() => {
        response.write('data: {"model":"x","choices":[]}\n\n');
        if (!over) return;
        clearInterval(go);
        response.end('data: [DONE]\n\n');
      }, 20);
      response.on('close', () => clearInterval(go));
    });
    const stream = call(await keyOf('a'), { stream: true }).then((response) => response.text());
    await until(() => streaming === 1);
    await (await call(await keyOf('a'))).text();
    over = true;
    expect(await stream).toContain('[DONE]');
    expect(parked).toEqual([]);
    expect(probes()).toBeGreaterThan(0);
  }, 30_000);

  test('with another key of the same account counts as one caller', async () => {
    await start(toCallers(raw(500, '{}')));
    for (let i = 0; i < 4; i++) await (await call(await keyOf('a'))).text();
    expect(parked).toEqual([]);
    expect(probes()).toBeGreaterThan(0);
  });

  test("with chat at a model for embeddings doesn't cool it down", async () => {
    await start((request, response) =>
      request.url === '/v1/embeddings' ? embeddings()(request, response) : raw(500, '{}')(request, response),
    );
    await (await call(await keyOf('a'))).text();
    expect(parked).toEqual([]);
    const embedded = { model: 'gateway/pro', input: 'x' };
    expect((await post(`${proxy.url}/v1/embeddings`, await keyOf('b'), embedded)).status).toBe(200);
  });

  describe('whose whole answers take too long', () => {
    const never: Script = () => undefined;
    test('gets that error at once if the node answers our probe, and the model stays in use', async () => {
      // Our own call has to be answered in that time, too.
      await start(toCallers(never), { timeout: 1 }, { allowed_fails: 1 });
      expect((await call(await keyOf('a'))).status).toBe(504);
      expect(asked()).toBe(1);
      node.answer(chat());
      expect(await modelFor(await keyOf('b'))).toBe('gateway/pro');
      expect(parked).toEqual([]);
    });

    test('gets that error without a probe if others have been answered meanwhile', async () => {
      const slow = (body: string): boolean => body.includes('slow');
      await start((request, response) => (slow(request.body) ? undefined : chat()(request, response)), {
        timeout: 1.5,
      });
      const [a, b] = [await keyOf('a'), await keyOf('b')];
      let over = false;
      const late = call(a, { user: 'slow' }).finally(() => {
        over = true;
      });
      await until(() => asked() === 1);
      // To the end: a node that answered in the first half of the wait may have stalled since, and is asked.
      while (!over) expect(await modelFor(b)).toBe('gateway/pro');
      expect((await late).status).toBe(504);
      expect(probes()).toBe(0);
    });

    test('at a node that is silent to everybody is answered by the fallback', async () => {
      await start(never, { timeout: 0.1 }, { num_retries: 0, allowed_fails: 1 });
      expect(await modelFor(await keyOf('a'))).toBe('gateway/fast');
      expect(parked).toHaveLength(1);
    });
  });
});
