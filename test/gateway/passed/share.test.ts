import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { requestText, statusesOf } from '../../hostile/raw.js';
import { errorOf } from '../../support/edge.js';
import { serverEnds } from '../../support/own-sockets.js';
import { until } from '../../support/until.js';
import { askAs, getFrom, usePassing } from './suite.js';

const AT_ONCE = 3;
const MOST = 6;
/** More than the system takes on the way. */
const PAGE = Buffer.alloc(6_000_000, 'x');

describe("one client's requests for the platform", () => {
  const suite = usePassing({
    passedAtOncePerClient: AT_ONCE,
    passedPerClient: MOST,
    pipelinedPerClient: MOST,
    waitingReadersPerClient: 1,
  });
  const asked: ServerResponse[] = [];
  beforeEach(() => {
    asked.length = 0;
    suite.platform.answer(({ url }, response) => {
      if (url === '/now') response.end('at once');
      else asked.push(response);
    });
  });
  /** Answers so many, and gives the statuses of all. */
  const statuses = async (answers: Promise<Response>[], count = answers.length): Promise<number[]> => {
    for (let i = 0; i < count; i++) {
      await until(() => asked.length > i);
      asked[i]!.end('late');
    }
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  const refusals = async (address: string): Promise<boolean> =>
    (await askAs(suite, address, '/now')).status === 429;

  test('wait in line beyond its share, and others pass', async () => {
    const own = Array.from({ length: MOST }, () => askAs(suite, '198.51.100.1', '/own'));
    await until(() => asked.length === AT_ONCE);
    expect((await askAs(suite, '198.51.100.2', '/now')).status).toBe(200);
    expect(asked).toHaveLength(AT_ONCE);
    expect(await statuses(own)).toEqual(Array(MOST).fill(200));
  });

  test.each([
    ['an IPv4 address', '198.51.100.1', '198.51.100.1', '198.51.100.2'],
    ['the /64 of an IPv6 address', '2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1'],
  ])('are refused with 429 and Retry-After beyond what may wait: %s', async (_what, one, same, other) => {
    const own = Array.from({ length: MOST + 1 }, (_, i) => askAs(suite, i % 2 ? one : same, '/own'));
    // Nothing else is answered.
    const refused = await Promise.race(own);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await errorOf(refused)).toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'requests',
      param: null,
    });
    expect((await askAs(suite, other, '/now')).status).toBe(200);
    expect((await statuses(own, MOST)).filter((status) => status === 200)).toHaveLength(MOST);
    await until(async () => !(await refusals(one)));
  });

  test('of clients that left count until the platform is done with them, and no longer', async () => {
    const gone = Array.from({ length: AT_ONCE }, () => {
      const socket = suite.client();
      socket.write(getFrom('198.51.100.1', '/gone'));
      return socket;
    });
    await until(() => asked.length === AT_ONCE);
    for (const socket of gone) socket.destroy();
    await until(() => serverEnds(gone) === 0);
    const own = askAs(suite, '198.51.100.1', '/own');
    expect((await askAs(suite, '198.51.100.2', '/now')).status).toBe(200);
    expect(asked).toHaveLength(AT_ONCE);
    for (const response of asked.splice(0)) response.end('nobody reads this');
    expect(await statuses([own])).toEqual([200]);
  });

  test('that are pipelined wait, are refused beyond a bound, and keep no other from being served', async () => {
    const socket = suite.client();
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    // The first one does not wait.
    socket.write(getFrom('198.51.100.1', '/first').repeat(1 + MOST + 2));
    await until(() => asked.length === 1);
    for (let i = 0; i < 2 * MOST; i++) expect(await refusals('198.51.100.1')).toBe(false);
    for (let i = 0; i <= MOST; i++) {
      await until(() => asked.length === i + 1);
      asked[i]!.end(`answer ${i}`);
    }
    await until(() => statusesOf(text).length === 1 + MOST + 2);
    expect(statusesOf(text)).toEqual([...Array(1 + MOST).fill(200), 429, 429]);
  });

  test('that were pipelined on a connection that closed are forgotten', async () => {
    for (let i = 0; i < 3; i++) {
      asked.length = 0;
      const socket = suite.client();
      socket.write(getFrom('198.51.100.1', '/first').repeat(1 + MOST));
      let text = '';
      socket.on('data', (chunk) => (text += chunk));
      await until(() => asked.length === 1);
      asked[0]!.end('late');
      await until(() => asked.length === 2);
      expect(statusesOf(text)).toEqual([200]);
      socket.destroy();
      await until(() => serverEnds([socket]) === 0);
      asked[1]!.end('nobody reads this');
    }
  });

  test('count no more once the platform has answered, however slowly they are read', async () => {
    suite.platform.answer(({ url }, response) => {
      if (url === '/page') response.writeHead(200, { 'content-length': PAGE.length }).end(PAGE);
      else response.end('at once');
    });
    for (let i = 0; i < 2 * MOST; i++) {
      const seen = suite.platform.seen.length;
      suite.client().pause().write(getFrom('198.51.100.1', '/page'));
      await until(() => suite.platform.seen.length > seen);
      await until(async () => !(await refusals('198.51.100.1')));
    }
  });

  test('whose body is on its way hold no connection to it, nor a place', async () => {
    const head = ['X-Forwarded-For: 198.51.100.1', 'Expect: 100-continue', 'Content-Length: 10'];
    const begun = suite.platform.begun();
    const slow = Array.from({ length: 2 * MOST }, () => {
      const socket = suite.client();
      socket.write(requestText('POST /slow', head));
      return socket;
    });
    await Promise.all(slow.map((socket) => once(socket, 'data')));
    for (const socket of slow) socket.write('12345');
    expect(await refusals('198.51.100.1')).toBe(false);
    expect(suite.platform.begun()).toBe(begun + 1);
    for (const socket of slow.slice(0, AT_ONCE)) socket.write('67890');
    await until(() => asked.length === AT_ONCE);
    expect(suite.platform.seen.at(-1)).toMatchObject({ url: '/slow', body: '1234567890' });
    for (const response of asked) response.end();
  });
});
