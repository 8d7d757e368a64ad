import { serverEnds } from '../../support/own-sockets.js';
import { ownTime } from '../../support/own-time.js';
import { until } from '../../support/until.js';
import { askAs, getFrom, usePassing } from './suite.js';

const REQUESTS = 150;
const STALLED_MS = 1_000;
/** What the API reference weighs: more than the system takes on the way. */
const PAGE = Buffer.alloc(6_000_000, 'x');

describe('requests for the platform that come at once on one connection', () => {
  const suite = usePassing({ stalledReaderMs: STALLED_MS, checkIntervalMs: 50 });
  const requests = (path: string): string =>
    Array.from({ length: REQUESTS }, (_, i) => getFrom('198.51.100.1', `${path}/${i}`)).join('');

  test('are passed on one after the other and answered in their order', async () => {
    let active = 0;
    let most = 0;
    suite.platform.answer(async ({ url }, response) => {
      most = Math.max(most, ++active);
      await new Promise((next) => setImmediate(next));
      active--;
      response.end(`answer to ${url}\n`);
    });
    const socket = suite.client();
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.write(requests('/ordered'));
    const answers = () => [...text.matchAll(/answer to \/ordered\/(\d+)\n/g)].map(([, i]) => Number(i));
    await until(() => answers().length === REQUESTS);
    expect(answers()).toEqual(Array.from({ length: REQUESTS }, (_, i) => i));
    expect(most).toBe(1);
  });

  test('and are never read, take nothing from others and are cut in time', async () => {
    let whole = 0;
    suite.platform.answer(({ url }, response) => {
      if (!url.startsWith('/unread')) {
        response.end('served');
        return;
      }
      response.on('finish', () => whole++);
      response.writeHead(200, { 'content-length': PAGE.length }).end(PAGE);
    });
    const time = ownTime();
    try {
      const socket = suite.client().pause();
      socket.write(requests('/unread'));
      await until(() => serverEnds([socket]) === 1, { what: 'the connection to be seen' });
      await until(() => whole === 1, { what: 'the edge to have taken the whole answer' });
      const began = time.now();
      const others = await Promise.all(
        Array.from({ length: 20 }, () =>
          askAs(suite, '203.0.113.7', '/other').then((answer) => answer.text()),
        ),
      );
      expect(others).toEqual(Array(20).fill('served'));
      expect(time.now() - began).toBeLessThan(STALLED_MS);
      expect(suite.platform.seen.filter(({ url }) => url.startsWith('/unread'))).toHaveLength(1);
      await until(() => serverEnds([socket]) === 0, { what: 'the connection to be cut' });
      expect(time.now() - began).toBeLessThan(1.5 * STALLED_MS);
    } finally {
      time.stop();
    }
  });
});
