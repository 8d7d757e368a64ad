import type { ServerResponse } from 'node:http';
import { requestText } from '../../hostile/raw.js';
import { errorOf } from '../../support/edge.js';
import { serverEnds } from '../../support/own-sockets.js';
import { until } from '../../support/until.js';
import { askAs, getFrom, usePassing } from './suite.js';

const AT_ONCE = 3;
const MOST = 6;

describe("one client's requests for the platform", () => {
  const suite = usePassing({ passedAtOncePerClient: AT_ONCE, passedPerClient: MOST });
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

  test('on one connection that closes leave the line', async () => {
    const socket = suite.client();
    socket.write(getFrom('198.51.100.1', '/first').repeat(MOST));
    await until(() => asked.length === 1);
    expect(await refusals('198.51.100.1')).toBe(true);
    socket.destroy();
    asked[0]!.end('nobody reads this');
    await until(async () => !(await refusals('198.51.100.1')));
    expect(asked).toHaveLength(1);
  });

  test('whose body is on its way hold no connection to it', async () => {
    const head = ['X-Forwarded-For: 198.51.100.1', 'Content-Type: application/json', 'Content-Length: 10'];
    const slow = Array.from({ length: MOST }, () => {
      const socket = suite.client();
      socket.write(requestText('POST /slow', head, '12345'));
      return socket;
    });

    await until(() => refusals('198.51.100.1'), { what: 'all of them to be there' });
    const begun = suite.platform.begun();
    expect((await askAs(suite, '198.51.100.2', '/now')).status).toBe(200);
    expect(suite.platform.begun()).toBe(begun + 1);
    expect(asked).toHaveLength(0);
    for (const socket of slow) socket.write('67890');
    await until(() => asked.length === AT_ONCE);
    expect(suite.platform.seen.at(-1)).toMatchObject({ url: '/slow', body: '1234567890' });
    for (const socket of slow) socket.destroy();
    for (const response of asked) response.end();
  });
});
