import type { Socket } from 'node:net';
import { serverEnds } from '../../support/own-sockets.js';
import { until } from '../../support/until.js';
import { askAs, getFrom, usePassing } from './suite.js';

/** More than the system takes on the way. */
const PAGE = Buffer.alloc(8_000_000, 'x');
const CONNECTIONS = 12;

describe('many clients that take nothing of large answers', () => {
  const suite = usePassing({
    platformConnections: CONNECTIONS,
    passedAtOncePerClient: CONNECTIONS / 2,
    heldBytes: 4_000_000,
    heldBytesPerClient: 2_000_000,
    heldBytesPerAnswer: 1_000_000,
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

  test('from four addresses leave room for the bodies of others', async () => {
    page();
    const before = suite.platform.seen.length;
    stall((i) => `198.51.100.${i % 4}`, 40);
    await until(() => suite.platform.seen.length === before + 40);
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
