import type { Socket } from 'node:net';
import { exchange, requestText } from '../../hostile/raw.js';
import { until } from '../../support/until.js';
import { usePassing } from './suite.js';

/** Of which one network gets a quarter. */
const MOST = 400_000;

describe('bodies that have arrived while the platform hangs', () => {
  const suite = usePassing({ requestBufferBytes: MOST, passedAtOncePerClient: 1 });

  const post = (bytes: number): string =>
    requestText(
      'POST /body',
      ['X-Forwarded-For: 198.51.100.1', 'Connection: close', `Content-Length: ${bytes}`],
      'x'.repeat(bytes),
    );
  /** Sends all of a body. */
  const send = (bytes: number): { socket: Socket; text(): string } => {
    const socket = suite.client();
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.write(post(bytes));
    return { socket, text: () => text };
  };

  test('keep their part of the room until they are passed on, or their senders leave', async () => {
    const answers: (() => void)[] = [];
    suite.platform.answer(({ body }, response) => {
      answers.push(() => response.end(`took ${body.length}`));
    });
    const first = send(60_000);
    await until(() => answers.length === 1, { what: 'the platform to have the first' });
    // Its body is on its way, so that one of the next two has room.
    const next = [send(60_000), send(60_000)];
    const refused = () => next.filter(({ text }) => text().startsWith('HTTP/1.1 503 '));
    await until(() => refused().length === 1, { what: 'the other one to be refused' });
    expect(refused()[0]!.text()).toMatch(/\r\nretry-after: 1\r\n[\s\S]*"code":"service_unavailable"/);
    const [waiting] = next.filter((one) => !refused().includes(one));
    expect(waiting!.text()).toBe('');
    waiting!.socket.destroy();
    suite.platform.answer(({ body }, response) => response.end(`took ${body.length}`));
    answers[0]!();
    await until(() => first.text().includes('took 60000'), { what: 'the first answer' });
    const room = async () => {
      const { text } = await exchange(suite.edge.url, post(80_000), { halfClose: false });
      return text.includes('took 80000');
    };
    await until(room, { what: 'room for another' });
  });
});
