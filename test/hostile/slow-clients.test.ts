import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Rig, startRig } from '../faults/rig/rig.js';
import { onBusyMachine } from '../support/busy.js';
import { createTestKey, usageOf } from '../support/edge.js';
import { chat, DONE_EVENT } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { open, requestText, statusesOf } from './raw.js';
import { slowClients, startAttack } from './slow/slow.js';
import { useHostileSuite } from './suite.js';

/** Requirement G16 in small; its long form has 2,000 and 500. */
const LORIS = 200;
const STALLED = 50;
/** What a busy machine adds to a percentile that is a few milliseconds on a quiet one. */
const NOISE_MS = 150;

describe('clients that send or read slowly, against the processes of the product', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig('slow-clients', { direct: true, balance: '1000000' });
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  test(`are cut in time without delaying others: ${LORIS} slow senders, ${STALLED} stalled readers`, async () => {
    const result = await slowClients(rig, {
      loris: LORIS,
      stalled: STALLED,
      watchMs: 4_000,
      toTheEnd: false,
    });
    expect(result.cuts.headersMs).toHaveLength(LORIS / 2);
    expect(Math.max(...result.cuts.headersMs)).toBeLessThan(onBusyMachine(15_000));
    expect(Math.min(...result.cuts.headersMs)).toBeGreaterThan(5_000);
    expect(result.during.requests).toBeGreaterThan(100);
    expect(result.during.p99).toBeLessThan(Math.max(2 * result.before.p99, result.before.p99 + NOISE_MS));
    expect(result.rssGrowthBytes).toBeLessThan(192 * 2 ** 20);
  }, 90_000);
});

describe('clients that send slowly', () => {
  const suite = useHostileSuite({
    bounds: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, checkIntervalMs: 100 },
  });

  test('are cut when the time for their headers, or their body, is over', async () => {
    const attack = await startAttack(suite.edge.url, suite.caller.key, LORIS, 0);
    try {
      const cuts = await until(async () => {
        const cuts = await attack.report();
        return cuts.open === 0 ? cuts : undefined;
      });
      expect([cuts.headersMs.length, cuts.bodiesMs.length]).toEqual([LORIS / 2, LORIS / 2]);
      expect(Math.min(...cuts.headersMs)).toBeGreaterThan(900);
      expect(Math.min(...cuts.bodiesMs)).toBeGreaterThan(1_900);
    } finally {
      await attack.end();
    }
  }, 30_000);

  test('that opened a connection in advance and sent nothing get no answer, which they would take for that of their first request', async () => {
    const began = performance.now();
    for (const begun of ['', 'GET /v1/mod']) {
      const socket = open(suite.edge.url);
      let text = '';
      socket.on('data', (chunk) => (text += chunk));
      socket.write(begun);
      await new Promise((resolve) => socket.on('close', resolve));
      const answers = text.match(/The request arrived too slowly/g) ?? [];
      expect([statusesOf(text), answers.length]).toEqual(begun === '' ? [[], 0] : [[408], 1]);
    }
    expect(performance.now() - began).toBeGreaterThan(1_900);
  });

  test('never get an answer in the middle of another', async () => {
    suite.upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n');
      // Not a wait for a condition: longer than the headers behind it may take.
      await delay(2_000);
      response.end(DONE_EVENT);
    });
    const body = '{"model":"gateway/fast","messages":[],"stream":true}';
    const socket: Socket = open(suite.edge.url);
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `${requestText(
        'POST /v1/chat/completions',
        [`Authorization: Bearer ${suite.caller.key}`, `Content-Length: ${body.length}`],
        body,
      )}GET /v1/models HTTP/1.1\r\nX-Never-Ends: `,
    );
    await closed;
    expect(text).toMatch(/"first"[\s\S]*\[DONE\]\s+0\r\n\r\nHTTP\/1\.1 408 /);
    expect(statusesOf(text)).toEqual([200, 408]);
  });
});

describe.each([
  { clients: 'one address', bounds: { socketsPerAddress: 20, countLoopback: true } },
  { clients: 'all addresses together', bounds: { sockets: 20 } },
])('$clients', ({ bounds }) => {
  const suite = useHostileSuite({ bounds });

  test('may have so many connections and no more; a closed one makes room', async () => {
    // Those of the sign-ups may still be open.
    const sockets = Array.from({ length: 40 }, () => open(suite.edge.url));
    const states = await Promise.all(
      sockets.map(
        (socket) =>
          new Promise<boolean>((resolve) => {
            socket.on('close', () => resolve(false));
            socket.on('data', () => resolve(true));
            socket.write(requestText('GET /health'));
          }),
      ),
    );
    const served = states.filter(Boolean).length;
    expect(served).toBeGreaterThan(10);
    expect(served).toBeLessThanOrEqual(20);
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => (socket.destroyed ? resolve(0) : socket.on('close', resolve).destroy())),
      ),
    );
    // The edge hears of their ends a moment later.
    const health = () => fetch(`${suite.edge.url}/health`).catch(() => undefined);
    await until(async () => (await health())?.ok, { what: 'room' });
  });
});

describe('bodies in memory', () => {
  const suite = useHostileSuite({
    bounds: { smallBodyBytes: 100_000, largeBodyBytes: 1_000_000, answerBytes: 1_000_000 },
  });
  const hold = async (key: string, bytes: number, chunked: boolean): Promise<Socket> => {
    const socket = open(suite.edge.url);
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes + 1}`;
    const head = requestText('POST /v1/chat/completions', [
      `Authorization: Bearer ${key}`,
      framing,
      'Expect: 100-continue',
    ]);
    const before = await used();
    const asked = new Promise((resolve) => socket.once('data', resolve));
    socket.write(head);
    await asked;
    const text = 'x'.repeat(bytes);
    socket.write(chunked ? `${bytes.toString(16)}\r\n${text}\r\n` : text);
    await until(async () => (await used()) >= before + bytes, { what: 'the bytes to be counted' });
    return socket;
  };
  const call = (bytes: number) =>
    fetch(`${suite.edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${suite.caller.key}` },
      body: JSON.stringify({
        model: 'gateway/fast',
        messages: [{ role: 'user', content: 'x'.repeat(bytes) }],
      }),
    });
  const used = async () =>
    Number(/^gateway_request_body_bytes (\d+)/m.exec(await suite.edge.registry.metrics())?.[1]);

  test.each([false, true])(
    'have a bound: 503 with Retry-After beyond it, served again after (chunked: %s)',
    async (chunked) => {
      expect((await call(50_000)).status).toBe(200);
      const other = await createTestKey(suite.db);
      const sockets = [
        await hold(other.key, 150_000, chunked),
        await hold(suite.caller.key, 130_000, chunked),
      ];
      const refused = await call(60_000);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
      expect((await call(1_000)).status).toBe(200);
      for (const socket of sockets) socket.destroy();
      await until(async () => (await used()) === 0, { what: 'the budget to be free' });
      expect((await call(60_000)).status).toBe(200);
    },
  );

  test('of one account leave room for those of others', async () => {
    const socket = await hold(suite.caller.key, 190_000, false);
    expect((await call(20_000)).status).toBe(503);
    const other = await createTestKey(suite.db);
    const second = await hold(other.key, 50_000, true);
    socket.destroy();
    second.destroy();
    await until(async () => (await used()) === 0, { what: 'the budget to be free' });
  });

  test('have a limit for whole answers: beyond it 503, free of charge, until memory is free again', async () => {
    const { key, accountId } = await createTestKey(suite.db, { balance: '1' });
    const ask = () =>
      fetch(`${suite.edge.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: '{"model":"gateway/fast","messages":[]}',
      });
    const answerOf = (bytes: number) =>
      chat({ choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(bytes) } }] });
    suite.upstream.answer(answerOf(600_000));
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    suite.upstream.answer(answerOf(450_000));
    const { length } = await (await ask()).text();
    expect(length).toBeGreaterThan(450_000);
    await until(async () => (await used()) === 0, { what: 'the budget to be free' });
    await suite.edge.settled();
    const [failed, served] = await usageOf(suite.db, accountId);
    expect([failed!.status, failed!.error_code, Number(failed!.cost)]).toEqual([
      'error',
      'service_unavailable',
      0,
    ]);
    expect(served!.status).toBe('success');
  });
});
