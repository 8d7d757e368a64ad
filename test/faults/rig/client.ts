import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Order } from './upstream.js';

/** What one caller saw of one call. */
export interface Entry {
  n: number;
  /** `x-request-id`, once headers came. */
  id: string | undefined;
  /** 0: no answer came. */
  status: number;
  retryAfter: string | undefined;
  /** Whether the response announced that its connection closes. */
  closes: boolean;
  /** Whether the whole answer arrived: [DONE], or as many bytes as announced. */
  complete: boolean;
  /** The error code of the answer or of the error event in the stream. */
  code: string | undefined;
  /** Deltas seen. */
  tokens: number;
  /** The system's error code, if the answer is missing or incomplete. */
  broken: string | undefined;
  /** Whether this caller itself hung up. */
  left: boolean;
  /** Milliseconds, monotonic. */
  startedAt: number;
  headersMs: number;
  tookMs: number;
  /** Refused connections before this one was accepted. */
  refused: number;
}

export interface CallOptions {
  stream?: boolean;
  /** Hangs up after this many deltas. */
  leaveAfter?: number;
  /** Hangs up after this many milliseconds. */
  leaveAfterMs?: number;
  /** Hangs up once this resolves. */
  leaveOnce?: (n: number) => Promise<unknown>;
  /** How long to retry while the connection is refused, in which case nothing was sent. */
  patienceMs?: number;
  /** Maximum wait for the whole answer; after that, `broken` is `HUNG`. */
  limitMs?: number;
  agent?: Agent;
}

const RETRY_MS = 100;
/**
 * The next pause is at least this share of the time that a caller has waited so far. At a constant pace, hundreds of callers keep a
 * slow driver too busy to pass on the database connections of the edge that they wait for.
 */
const RETRY_SHARE = 0.25;
const TOKEN = '"content":"x';

/** One connection per call, so that a refused connection proves that nothing was sent. */
const oneOff = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Callers that record what they saw. */
export class Journal {
  readonly entries: Entry[] = [];
  #next = 0;

  /** Makes one call; resolves when it is over, however it ended. */
  async call(
    url: string,
    key: string,
    order: Omit<Order, 'n'> = {},
    options: CallOptions = {},
  ): Promise<Entry> {
    const entry: Entry = {
      n: this.#next++,
      id: undefined,
      status: 0,
      retryAfter: undefined,
      closes: false,
      complete: false,
      code: undefined,
      tokens: 0,
      broken: undefined,
      left: false,
      startedAt: performance.now(),
      headersMs: 0,
      tookMs: 0,
      refused: 0,
    };
    this.entries.push(entry);
    const patience = performance.now() + (options.patienceMs ?? 0);
    for (;;) {
      await attempt(url, key, { n: entry.n, ...order }, entry, options);
      if (entry.broken !== 'ECONNREFUSED' || performance.now() > patience) break;
      entry.refused++;
      entry.broken = undefined;
      await pause(Math.max(RETRY_MS, RETRY_SHARE * (performance.now() - entry.startedAt)));
    }
    entry.tookMs = performance.now() - entry.startedAt;
    return entry;
  }

  /** Number of calls by outcome: `200`, `503 service_unavailable`, `cut`, `ECONNRESET`, … */
  tally(entries: readonly Entry[] = this.entries): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const entry of entries) counts[outcome(entry)] = (counts[outcome(entry)] ?? 0) + 1;
    return counts;
  }
}

/** The outcome of a call in one word. */
export function outcome(entry: Entry): string {
  if (entry.left) return 'left';
  if (entry.status === 0) return entry.broken ?? 'no answer';
  if (entry.status !== 200) return `${entry.status} ${entry.code}`;
  if (entry.complete) return '200';
  return entry.code ? `error event ${entry.code}` : `cut (${entry.broken})`;
}

function attempt(url: string, key: string, order: Order, entry: Entry, options: CallOptions): Promise<void> {
  const { stream = false, limitMs = 30_000 } = options;
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: options.agent ?? oneOff,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    const limit = setTimeout(() => request.destroy(Object.assign(new Error(), { code: 'HUNG' })), limitMs);
    const leave = (): void => {
      entry.left = true;
      request.destroy();
    };
    const leaving =
      options.leaveAfterMs === undefined ? undefined : setTimeout(leave, options.leaveAfterMs).unref();
    void options.leaveOnce?.(order.n).then(leave);
    request.on('response', (response) => read(response, entry, options, leave));
    request.on('error', (error: NodeJS.ErrnoException) => {
      entry.broken ??= error.code ?? error.message;
    });
    request.on('close', () => {
      clearTimeout(limit);
      clearTimeout(leaving);
      resolve();
    });
    request.end(
      JSON.stringify({
        model: 'gateway/fast',
        stream,
        max_tokens: order.words ?? 5,
        messages: [{ role: 'user', content: JSON.stringify(order) }],
      }),
    );
  });
}

function read(response: IncomingMessage, entry: Entry, options: CallOptions, leave: () => void): void {
  entry.status = response.statusCode!;
  entry.id = response.headers['x-request-id'] as string | undefined;
  entry.retryAfter = response.headers['retry-after'];
  entry.closes = response.headers.connection === 'close';
  entry.headersMs = performance.now() - entry.startedAt;
  let tail = '';
  response.setEncoding('latin1');
  response.on('data', (text: string) => {
    // The end of the previous piece is included, to find a token that is split between two pieces.
    const from = tail.length >= TOKEN.length ? tail.slice(1 - TOKEN.length) : tail;
    const seen = from + text;
    for (let at = seen.indexOf(TOKEN); at >= 0; at = seen.indexOf(TOKEN, at + 1)) entry.tokens++;
    tail = (tail + text).slice(-1_024);
    if (options.leaveAfter !== undefined && entry.tokens >= options.leaveAfter) leave();
  });
  response.on('error', (error: NodeJS.ErrnoException) => {
    entry.broken ??= error.code ?? error.message;
  });
  response.on('end', () => {
    entry.code = /"code":"(\w+)"/.exec(tail)?.[1];
    const whole = options.stream ? tail.endsWith('data: [DONE]\n\n') : response.complete;
    entry.complete = response.statusCode === 200 && whole;
    if (!entry.complete && response.statusCode === 200) entry.broken ??= 'ended early';
  });
}

/** Calls from each customer in turn, with varying lengths. Every other call streams unless `streams` is false. */
export const mixedCalls =
  (
    { journal, url }: { journal: Journal; url: string },
    customers: readonly { key: string }[],
    { streams = true, ...options }: Omit<CallOptions, 'stream'> & { streams?: boolean | undefined } = {},
  ) =>
  (i: number): Promise<Entry> => {
    const { key } = customers[i % customers.length]!;
    const order = { words: 1 + (i % 20), ttftMs: i % 30 };
    return journal.call(url, key, order, { stream: streams && i % 2 === 0, ...options });
  };

/**
 * Makes calls at an even pace for a time. A slow answer doesn't slow the callers.
 * Resolves when the last of them is over.
 */
export async function steadyLoad(
  perSecond: number,
  until: () => boolean,
  call: (i: number) => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  const pending = new Set<Promise<unknown>>();
  let made = 0;
  while (!until()) {
    for (const due = ((performance.now() - began) / 1_000) * perSecond; made < due; made++) {
      const one = call(made).finally(() => pending.delete(one));
      pending.add(one);
    }
    const nextMs = (made / perSecond) * 1_000 - (performance.now() - began);
    await pause(Math.max(1, nextMs));
  }
  await Promise.all(pending);
  return made;
}
