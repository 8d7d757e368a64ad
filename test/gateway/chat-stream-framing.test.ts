import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createTestKey } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { DONE_EVENT, delta, stream, usageEvent } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

/** The body behind its chunked coding. @throws Error when the coding is broken. */
function dechunk(text: string): { body: string; rest: string } {
  let body = '';
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (lineEnd < 0 || Number.isNaN(size) || text.slice(end, end + 2) !== '\r\n') throw new Error('broken');
    if (size === 0) return { body, rest: text.slice(end + 2) };
    body += text.slice(lineEnd + 2, end);
    at = end + 2;
  }
}

const split = (text: string): [string, string] => {
  const end = text.indexOf('\r\n\r\n') + 4;
  return [text.slice(0, end), text.slice(end)];
};

describe('the framing of a streamed chat', () => {
  const suite = useEdge();
  const events = Array.from({ length: 40 }, (_, i) => delta(`token ${i}`));
  const upstreamEvents = [...events, usageEvent(3, 40), DONE_EVENT];
  const expected = [...events, DONE_EVENT].join('');

  const open = async (): Promise<{ socket: Socket; text(): string }> => {
    const socket = connect(Number(new URL(suite.edge.url).port), '127.0.0.1');
    await once(socket, 'connect');
    let text = '';
    socket.setEncoding('latin1').on('data', (part: unknown) => {
      text += part as string;
    });
    return { socket, text: () => text };
  };

  const request = (key: string, version: string, content = 'Hi'): string => {
    const body = JSON.stringify({
      model: 'gateway/fast',
      stream: true,
      messages: [{ role: 'user', content }],
    });
    return `POST /v1/chat/completions HTTP/${version}\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };

  test('is chunked for HTTP/1.1, and two pipelined streams arrive whole and in order', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(stream(upstreamEvents));
    const { socket, text } = await open();
    socket.write(request(key, '1.1') + request(key, '1.1'));
    await until(() => text().split('data: [DONE]\n\n\r\n0\r\n\r\n').length === 3, { what: 'both streams' });
    socket.destroy();
    const [firstHead, firstRest] = split(text());
    expect(firstHead).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    const first = dechunk(firstRest);
    expect(first.body).toBe(expected);
    const [secondHead, secondRest] = split(first.rest);
    expect(secondHead).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(dechunk(secondRest)).toEqual({ body: expected, rest: '' });
  });

  test('is absent for HTTP/1.0: the end of the connection ends the body', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(stream(upstreamEvents));
    const { socket, text } = await open();
    socket.write(request(key, '1.0'));
    await once(socket, 'close');
    const [head, body] = split(text());
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(body).toBe(expected);
  });

  test('loses nothing when a reader pauses and goes on', async () => {
    const { key } = await createTestKey(suite.db);
    const big = Array.from({ length: 400 }, (_, i) => delta(`${i} ${'x'.repeat(64_000)}`));
    suite.upstream.answer(stream([...big, usageEvent(3, 400), DONE_EVENT]));
    const { socket, text } = await open();
    socket.pause();
    socket.write(request(key, '1.1'));
    const before = suite.upstream.seen.length;
    await until(() => suite.upstream.seen.length > before, { what: 'the call to reach the upstream' });
    socket.resume();
    await until(() => text().endsWith('data: [DONE]\n\n\r\n0\r\n\r\n'), { what: 'the end of the stream' });
    socket.destroy();
    expect(dechunk(split(text())[1]).body).toBe([...big, DONE_EVENT].join(''));
  });
});
