import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { open, requestText } from '../../hostile/raw.js';
import { until } from '../../support/until.js';
import { askAs, usePassing } from './suite.js';

const STALLED_MS = 300;

describe('what the platform answers', () => {
  const suite = usePassing({ passedAtOncePerClient: 1, stalledReaderMs: STALLED_MS, checkIntervalMs: 30 });

  test('as a stream of events passes event by event, also after a silence longer than a reader may stall', async () => {
    let stream: ServerResponse | undefined;
    suite.platform.answer((_request, response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('data: 0\n\n');
    });
    const answer = await askAs(suite, '198.51.100.1', '/events');
    const reader = answer.body!.getReader();
    for (let i = 0; i < 3; i++) {
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(`data: ${i}\n\n`);
      // Not a wait for a condition: nothing may happen in it.
      await pause(2 * STALLED_MS);
      stream!.write(`data: ${i + 1}\n\n`);
    }
    const ended = once(stream!, 'close');
    await reader.cancel();
    await ended;
  });

  test('without a body, and to HEAD, has none', async () => {
    suite.platform.answer(({ method }, response) => {
      if (method === 'HEAD') response.writeHead(200, { 'content-length': 5, etag: 'x' }).end();
      else response.writeHead(304, { etag: 'y' }).end();
    });
    const text = requestText('HEAD /a') + requestText('GET /b', ['Connection: close']);
    const socket = open(suite.edge.url);
    let got = '';
    socket.on('data', (chunk) => (got += chunk));
    socket.write(text);
    await once(socket, 'close');
    const [head, other, ...more] = got.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 [\s\S]*content-length: 5/i);
    expect(other).toMatch(/^HTTP\/1\.1 304 [\s\S]*etag: y/i);
    expect(more).toEqual(['']);
  });

  test('and breaks off is broken off for the client too', async () => {
    suite.platform.answer((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 });
      response.write('x'.repeat(1_000), () => response.destroy());
    });
    const answer = await askAs(suite, '198.51.100.1', '/broken');
    await expect(answer.text()).rejects.toThrow();
  });

  test('is never asked for with a body larger than any that it takes: the sender gets 413', async () => {
    const asked = suite.platform.begun();
    const body = 'x'.repeat(1_000_000);
    for (const chunked of [false, true]) {
      const answer = await fetch(`${suite.edge.url}/large`, {
        method: 'POST',
        ...(chunked ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }),
      } as RequestInit);
      expect([answer.status, await answer.text()]).toEqual([
        413,
        expect.stringContaining('"code":"body_too_large"'),
      ]);
    }
    expect(suite.platform.begun()).toBe(asked);
  });

  test('to a client that has left is given up', async () => {
    let answer: ServerResponse | undefined;
    suite.platform.answer((_request, response) => {
      answer = response;
    });
    const socket = open(suite.edge.url);
    socket.write(requestText('GET /left'));
    await until(() => answer);
    socket.destroy();
    const closed = once(answer!, 'close');
    answer!.writeHead(200);
    const timer = setInterval(() => answer!.write('x'.repeat(10_000)), 5);
    await closed;
    clearInterval(timer);
  });
});
