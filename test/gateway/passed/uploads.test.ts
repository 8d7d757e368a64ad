import type { Socket } from 'node:net';
import { exchange, requestText } from '../../hostile/raw.js';
import { until } from '../../support/until.js';
import { usePassing } from './suite.js';

/** Of which one network gets a quarter. */
const MOST = 400_000;

describe('bodies that are on their way to the platform', () => {
  const suite = usePassing({ requestBufferBytes: MOST });
  beforeEach(() => suite.platform.answer(({ body }, response) => response.end(`took ${body.length}`)));

  const post = (address: string, length: number, body: string): string =>
    requestText(
      'POST /body',
      [`X-Forwarded-For: ${address}`, 'Connection: close', `Content-Length: ${length}`],
      body,
    );
  /** Sends all of a body but its last byte. */
  const stall = (address: string, bytes: number): Socket => {
    const socket = suite.client();
    socket.write(post(address, bytes + 1, 'x'.repeat(bytes)));
    return socket;
  };
  const send = (address: string, bytes: number) =>
    exchange(suite.edge.url, post(address, bytes, 'x'.repeat(bytes)), { halfClose: false });

  test('have a bound for each network and for all, beyond which only small ones pass', async () => {
    const begun = suite.platform.begun();
    const one = stall('198.51.100.1', 90_000);
    const refused = await until(async () => {
      const answer = await send('198.51.100.1', 50_000);
      return answer.statuses[0] === 503 ? answer : undefined;
    });
    expect(refused.text).toMatch(/\r\nretry-after: 1\r\n[\s\S]*"code":"service_unavailable"/);
    expect((await send('198.51.100.1', 16_000)).text).toContain('took 16000');
    expect((await send('198.51.101.2', 50_000)).text).toContain('took 50000');
    const two = stall('198.51.102.3', 75_000);
    await until(async () => (await send('198.51.101.2', 60_000)).statuses[0] === 503);
    // However many there are, there is room for another.
    expect((await send('198.51.101.2', 40_000)).text).toContain('took 40000');
    expect((await send('198.51.101.2', 16_000)).text).toContain('took 16000');
    // Neither of the two has come so far.
    expect(suite.platform.seen.filter(({ body }) => body.length >= 75_000)).toEqual([]);
    expect(suite.platform.begun()).toBeGreaterThan(begun);
    one.destroy();
    two.destroy();
    await until(async () => (await send('198.51.100.1', 80_000)).text.includes('took 80000'));
  });

  test('have a bound for all networks of one customer together', async () => {
    const one = stall('2001:db8:7:1::1', 90_000);
    await until(async () => (await send('2001:db8:7:2::1', 50_000)).statuses[0] === 503);
    expect((await send('2001:db8:8:2::1', 50_000)).text).toContain('took 50000');
    one.destroy();
    await until(async () => (await send('2001:db8:7:2::1', 80_000)).text.includes('took 80000'));
  });

  test('are neither waited for nor passed on when they announce more than is ever taken, or come byte by byte', async () => {
    const begun = suite.platform.begun();
    const large = await exchange(suite.edge.url, post('198.51.100.1', 900_000, '{'), { halfClose: false });
    const pieces = requestText('POST /body', ['Transfer-Encoding: chunked'], '1\r\na\r\n'.repeat(5_000));
    const small = await exchange(suite.edge.url, pieces, { halfClose: false });
    for (const { statuses, text } of [large, small]) {
      expect(statuses).toEqual([413]);
      expect(text).toContain('"code":"body_too_large"');
    }
    expect(suite.platform.begun()).toBe(begun);
  });

  test('come whole, and give their room back', async () => {
    for (let i = 0; i < 5; i++) expect((await send('198.51.100.1', 90_000)).text).toContain('took 90000');
  });
});
