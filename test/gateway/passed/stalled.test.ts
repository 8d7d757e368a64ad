import { once } from 'node:events';
import type { Socket } from 'node:net';
import { serverEnds } from '../../support/own-sockets.js';
import { until } from '../../support/until.js';
import { askAs, getFrom, usePassing } from './suite.js';

/** More than the system takes on the way. */
const PAGE = Buffer.alloc(8_000_000, 'x');
const PIECE = 100_000;
const CONNECTIONS = 12;
const HELD_PER_ANSWER = 1_000_000;
/** Answers that fill all memory for answers. Each is of another address, which has room for more. */
const FILLING = 4;

describe('many clients that take nothing of large answers', () => {
  const suite = usePassing({
    platformConnections: CONNECTIONS,
    passedAtOncePerClient: CONNECTIONS / 2,
    responseBufferBytes: FILLING * HELD_PER_ANSWER,
    responseBufferBytesPerAnswer: HELD_PER_ANSWER,
    waitingReaders: (2 * CONNECTIONS) / 3,
    waitingReadersPerClient: CONNECTIONS / 4,
  });
  const page = (): void =>
    suite.platform.answer(({ url }, response) => {
      if (url !== '/page') response.end('served');
      else response.writeHead(200, { 'content-length': PAGE.length }).end(PAGE);
    });
  const stall = (from: (i: number) => string, count: number): Socket[] =>
    Array.from({ length: count }, (_, i) => {
      const socket = suite.client().pause();
      socket.write(getFrom(from(i), '/page'));
      return socket;
    });

  test.each([
    ['one address', () => '198.51.100.1'],
    ['an address each', (i: number) => `198.51.100.${i}`],
  ])('from %s leave the platform to others', async (_what, from) => {
    page();
    const before = suite.platform.seen.length;
    const sockets = stall(from, 40);
    // Each got its turn: those before it let the platform go.
    await until(() => suite.platform.seen.length === before + 40);
    const others = await Promise.all(
      Array.from({ length: 20 }, () => askAs(suite, '203.0.113.7', '/other').then((answer) => answer.text())),
    );
    expect(others).toEqual(Array(20).fill('served'));
    // The ones that took the least were cut, not all of them.
    expect(serverEnds(sockets)).toBeLessThan(40);
    expect(serverEnds(sockets)).toBeGreaterThan(2);
  });

  /** Has the platform give pages for as long as the edge takes them; how much that has been. */
  function given(): () => number {
    let bytes = 0;
    suite.platform.answer(async ({ url }, response) => {
      if (url !== '/page') {
        response.end('served');
        return;
      }
      response.writeHead(200, { 'content-length': PAGE.length });
      for (let at = 0; at < PAGE.length; at += PIECE) {
        if (!response.write(PAGE.subarray(at, at + PIECE))) await once(response, 'drain');
        bytes += PIECE;
      }
    });
    return () => bytes;
  }

  test('that fill the memory for answers leave room for the bodies of others', async () => {
    const taken = given();
    stall((i) => `198.51.100.${i}`, FILLING);
    let before = 0;
    const isFull = (): boolean => {
      const grown = taken() - before;
      before += grown;
      return before > FILLING * HELD_PER_ANSWER && grown === 0;
    };
    await until(isFull, { intervalMs: 200, what: 'the edge to take no more' });
    for (let n = 0; n < 20; n++) {
      const answer = await fetch(`${suite.edge.url}/body`, {
        method: 'POST',
        headers: { 'x-forwarded-for': '203.0.113.7' },
        body: 'x'.repeat(50_000),
      });
      expect([answer.status, await answer.text()]).toEqual([200, 'served']);
    }
  });

  test('who reads gets all of it meanwhile, however slowly', async () => {
    page();
    stall(() => '198.51.100.1', 40);
    const answer = await askAs(suite, '203.0.113.8', '/page');
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      expect(PAGE.subarray(0, chunk.length).equals(chunk)).toBe(true);
      bytes += chunk.length;
      await new Promise((next) => setImmediate(next));
    }
    expect(bytes).toBe(PAGE.length);
  });
});
