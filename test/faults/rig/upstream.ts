import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DONE_EVENT, delta, usageEvent } from '../../support/scripted-upstream.js';

/** What a call asks of the upstream, as the text of its only message. */
export interface Order {
  /** Number of the call, by which the driver finds its id. */
  n: number;
  /** Deltas of a stream, completion tokens of a whole answer. */
  words?: number;
  ttftMs?: number;
  /** Public name of the model that serves a whole answer. */
  model?: string;
  chunkMs?: number;
  /** Length of each delta. */
  wordBytes?: number;
  /** The fault, after `after` deltas. */
  fault?: 'reset' | 'stall' | 'truncate' | 'garbage' | 'silent' | 'refuse' | 'no-usage';
  after?: number;
}

/** A call that reached the upstream. */
export interface Forwarded {
  /** The id of the usage event. */
  id: string;
  order: Order;
  /** Deltas that were sent. */
  sent: number;
  /** Whether the caller closed before the answer was whole. */
  aborted: boolean;
  /** Milliseconds (monotonic) when it was closed. */
  closedAt: number;
}

export interface RigUpstream {
  readonly url: string;
  readonly port: number;
  /** Calls by id. A second call with the same id is in `repeated`. */
  readonly forwarded: Map<string, Forwarded>;
  readonly repeated: string[];
  /** Answers that are being sent. */
  open(): number;
  close(): Promise<void>;
}

export const INPUT_TOKENS = 10;

/**
 * An upstream that does what each call asks for, over real HTTP. `idOf` returns the id of a call that arrives
 * without one, by its number.
 */
export async function startRigUpstream(
  idOf: (order: number) => string | undefined = () => undefined,
): Promise<RigUpstream> {
  const forwarded = new Map<string, Forwarded>();
  const repeated: string[] = [];
  let open = 0;
  const server = createServer((request, response) => {
    // Requests of the edge itself: the models, and where calls fall back to.
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
      return;
    }
    // Creation and removal of virtual keys.
    if (request.url?.startsWith('/key/')) {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"key":"sk-virtual-of-the-rig"}');
      return;
    }
    open++;
    const chunks: Buffer[] = [];
    let record: Forwarded | undefined;
    response.on('close', () => {
      open--;
      if (!record) return;
      record.aborted = !response.writableFinished;
      record.closedAt = performance.now();
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      record = noted(request, body);
      answer(record, body, response).catch(() => response.destroy());
    });
  });
  // A request that is cut in the middle is not the rig's fault.
  server.on('clientError', (_error, socket) => socket.destroy());
  const noted = (request: IncomingMessage, body: Body): Forwarded => {
    const order = JSON.parse(body.messages[0]!.content) as Order;
    const id = (request.headers['x-request-id'] as string | undefined) ?? idOf(order.n)!;
    if (forwarded.has(id)) repeated.push(id);
    const record: Forwarded = { id, order, sent: 0, aborted: false, closedAt: 0 };
    forwarded.set(id, record);
    return record;
  };
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    forwarded,
    repeated,
    open: () => open,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Body {
  stream?: boolean;
  messages: { content: string }[];
}

async function answer(record: Forwarded, body: Body, response: ServerResponse): Promise<void> {
  const { order } = record;
  if (order.fault === 'silent') return;
  if (order.ttftMs) await pause(order.ttftMs);
  if (order.fault === 'refuse') {
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  } else if (order.fault === 'garbage') {
    const type = body.stream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type }).end('\u0000{garbage');
  } else if (body.stream) await stream(record, response);
  else whole(record, response);
}

async function stream(record: Forwarded, response: ServerResponse): Promise<void> {
  const { words = 5, chunkMs = 0, wordBytes = 1, fault, after = Number.POSITIVE_INFINITY } = record.order;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = delta('x'.repeat(wordBytes));
  for (; record.sent < words; ) {
    if (record.sent >= after) return breakOff(record, response);
    if (response.destroyed) return;
    record.sent++;
    if (!response.write(event)) await drained(response);
    if (chunkMs > 0) await pause(chunkMs);
  }
  const usage = fault === 'no-usage' ? '' : usageEvent(INPUT_TOKENS, words);
  response.end(usage + DONE_EVENT);
}

/** Resolves when more can be written, or the connection ended. Leaves no listener behind. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function breakOff({ order }: Forwarded, response: ServerResponse): void {
  if (order.fault === 'reset') response.socket?.resetAndDestroy();
  else if (order.fault === 'truncate') response.end();
}

function whole({ order }: Forwarded, response: ServerResponse): void {
  const { words = 5, wordBytes = 1, model = 'gateway/fast' } = order;
  const body = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'x'.repeat(words * wordBytes) },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: INPUT_TOKENS, completion_tokens: words, total_tokens: INPUT_TOKENS + words },
  });
  response.writeHead(200, { 'content-type': 'application/json' });
  const half = body.slice(0, body.length / 2);
  if (order.fault === 'truncate') response.write(half, () => response.destroy());
  else if (order.fault === 'reset') response.write(half, () => response.socket?.resetAndDestroy());
  else if (order.fault === 'stall') response.write(half);
  else response.end(body);
}
