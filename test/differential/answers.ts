import type { Play } from './node.js';

/** Raw responses of nodes. */

export type Framing = 'length' | 'chunked' | 'close';

interface AnswerOptions {
  status?: number;
  headers?: Record<string, string>;
  framing?: Framing;
}

/** The bytes of a response whose body has these `parts`; if it is chunked, each part is a chunk. */
export function bytesOf(
  parts: readonly (string | Buffer)[],
  { status = 200, headers = {}, framing = 'length' }: AnswerOptions = {},
): Buffer {
  const buffers = parts.map((part) => Buffer.from(part as string));
  const bytes = buffers.reduce((sum, { length }) => sum + length, 0);
  const framed = {
    length: { 'content-length': String(bytes) },
    chunked: { 'transfer-encoding': 'chunked' },
    close: { connection: 'close' },
  }[framing];
  const lines = Object.entries({ 'content-type': 'application/json', ...headers, ...framed });
  const head = `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const body =
    framing === 'chunked'
      ? [
          ...buffers
            .filter(({ length }) => length > 0)
            .flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
          Buffer.from('0\r\n\r\n'),
        ]
      : buffers;
  return Buffer.concat([Buffer.from(head), ...body]);
}

/** Cuts bytes at the given places. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places)].filter((at) => at > 0 && at < bytes.length).sort((a, b) => a - b);
  return [0, ...sorted].map((at, i) => bytes.subarray(at, sorted[i] ?? bytes.length));
}

const endOf = (framing: Framing | undefined): Play['end'] => (framing === 'close' ? 'close' : 'keep');

/** A whole answer. */
export const whole = (
  body: unknown,
  options: AnswerOptions & { cuts?: readonly number[]; end?: Play['end'] } = {},
): Play => ({
  pieces: cutAt(
    bytesOf([typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body)], options),
    options.cuts ?? [],
  ),
  end: options.end ?? endOf(options.framing),
});

/** A stream of events. */
export const stream = (
  events: readonly string[],
  options: AnswerOptions & { cuts?: readonly number[]; end?: Play['end']; pauseMs?: number } = {},
): Play => ({
  pieces: cutAt(
    bytesOf(events, {
      framing: 'chunked',
      ...options,
      headers: { 'content-type': 'text/event-stream', ...options.headers },
    }),
    options.cuts ?? [],
  ),
  end: options.end ?? endOf(options.framing),
  ...(options.pauseMs !== undefined && { pauseMs: options.pauseMs }),
});

/** The first bytes of a response, and then an end in the middle. */
export const brokenOff = (play: Play, bytes: number, end: Play['end']): Play => ({
  pieces: cutAt(Buffer.concat(play.pieces), [bytes]).slice(0, 1),
  end,
});

/** No byte of an answer. */
export const nothing = (end: Play['end']): Play => ({ pieces: [], end });

export const USAGE = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };

export const completion = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'chatcmpl-node',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'of-the-node',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: USAGE,
  ...fields,
});

export const event = (fields: Record<string, unknown>): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-node', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'of-the-node', ...fields })}\n\n`;

export const delta = (part: unknown, index = 0, finish: string | null = null): string =>
  event({
    choices: [{ index, delta: typeof part === 'string' ? { content: part } : part, finish_reason: finish }],
  });

export const usageEvent = (usage: unknown = USAGE): string => event({ choices: [], usage });
export const DONE = 'data: [DONE]\n\n';

/** The events of a usual stream. */
export const EVENTS = [
  delta({ role: 'assistant', content: '' }),
  delta('Hel'),
  delta('lo, wörld 🔑.'),
  delta({}, 0, 'stop'),
  usageEvent(),
  DONE,
];

export const vectors = (count: number, fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  object: 'list',
  model: 'of-the-node',
  data: Array.from({ length: count }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 8 }, (_unused, i) => (i - 3) / (index + 3)),
  })),
  usage: { prompt_tokens: 5 * count, total_tokens: 5 * count },
  ...fields,
});
