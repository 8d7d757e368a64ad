import { createServer, type Socket } from 'node:net';
import { CHUNKS } from './jobs.js';

/**
 * The model behind every target: a raw TCP server, so that it costs next to nothing. A body with `"stream":true`
 * gives a stream of events 10 ms apart; the words `bench-short` and `bench-idle` in it make it short or endless.
 */
const SHORT_CHUNKS = 5;
const TICKS = 10;

const MODEL = 'gateway/fast';
const usage = { prompt_tokens: 40, completion_tokens: 100, total_tokens: 140 };
const base = { id: 'chatcmpl-bench', created: 1_790_000_000, model: MODEL };

const answer = JSON.stringify({
  ...base,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'word '.repeat(70).trim() }, finish_reason: 'stop' },
  ],
  usage,
});
const OK = 'HTTP/1.1 200 OK\r\n';
const ANSWER = `content-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`;

const frame = (event: string): string => `${event.length.toString(16)}\r\n${event}\r\n`;
const chunkEvent = (choices: unknown[], rest: object = {}): string =>
  frame(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...rest })}\n\n`);
const delta = (index: number): string =>
  chunkEvent([{ index: 0, delta: { content: `token-${index} ` }, finish_reason: null }]);
const HEAD =
  'content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';

const FIRST = HEAD + delta(0);
const DELTAS = Array.from({ length: CHUNKS }, (_, index) => Buffer.from(delta(index)));
const DONE = Buffer.from(`${frame('data: [DONE]\n\n')}0\r\n\r\n`);
const USAGE_DONE = Buffer.from(`${chunkEvent([], { usage })}${frame('data: [DONE]\n\n')}0\r\n\r\n`);

interface Stream {
  socket: Socket;
  next: number;
  last: number;
  usage: boolean;
}

/** A wheel of one-millisecond slots spreads the streams over the ten milliseconds between two chunks. */
const wheel = Array.from({ length: TICKS }, () => new Set<Stream>());
let slot = 0;

function turnWheel(): void {
  slot = (slot + 1) % TICKS;
  const streams = wheel[slot]!;
  for (const stream of streams) {
    if (stream.next < stream.last && !stream.socket.destroyed) {
      stream.socket.write(DELTAS[stream.next++]!);
      continue;
    }
    streams.delete(stream);
    if (!stream.socket.destroyed) stream.socket.write(stream.usage ? USAGE_DONE : DONE);
  }
}

/** `echo` is the call's id as a header line, which the product's model proxy returns, too. */
function respond(socket: Socket, echo: string, body: string): void {
  if (!body.includes('"stream":true')) {
    socket.write(OK + echo + ANSWER, 'latin1');
    return;
  }
  socket.write(OK + echo + FIRST, 'latin1');
  if (body.includes('bench-idle')) return;
  const last = body.includes('bench-short') ? SHORT_CHUNKS : CHUNKS;
  const place = wheel[Math.floor(Math.random() * TICKS)]!;
  const stream = { socket, next: 1, last, usage: body.includes('"include_usage":true') };
  place.add(stream);
}

/** Length of the first whole request in a text of latin1, its id and its body; undefined while it isn't whole. */
function wholeRequest(text: string): { length: number; echo: string; body: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const start = headEnd + 4;
  const head = text.slice(0, headEnd);
  const id = /\r\n(x-request-id: *[\w-]+)/i.exec(head)?.[1];
  const echo = id === undefined ? '' : `${id}\r\n`;
  const given = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (given) {
    const length = start + Number(given[1]);
    return text.length >= length ? { length, echo, body: text.slice(start, length) } : undefined;
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { length: start, echo, body: '' };
  const end = text.indexOf('\r\n0\r\n\r\n', headEnd);
  return end < 0 ? undefined : { length: end + 7, echo, body: text.slice(start, end) };
}

const server = createServer({ noDelay: true }, (socket) => {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (let request = wholeRequest(text); request; request = wholeRequest(text)) {
      text = text.slice(request.length);
      respond(socket, request.echo, request.body);
    }
  });
});
setInterval(turnWheel, 1);
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
