import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { chunkEvent, DONE_EVENT, delta, usageEvent } from '../../support/scripted-upstream.js';
import type { Order } from './upstream.js';

/** State of a node: `dead` resets every connection, `stalled` accepts requests and sends nothing any more. */
export type NodeMode = 'serving' | 'dead' | 'stalled';

/** How a node lies. */
export interface Lie {
  model?: string;
  usage?: unknown;
  /** Endless tokens, whatever was requested. */
  endless?: boolean;
}

export interface FaultNode {
  readonly url: string;
  /** Times of callers' requests, or of connections while dead; milliseconds, monotonic. */
  readonly asked: number[];
  /** Probes of the model proxy. */
  readonly probes: number[];
  /** Streams and answers under way. */
  open(): number;
  become(mode: NodeMode): void;
  lie(lie: Lie | undefined): void;
  close(): Promise<void>;
}

interface Body {
  model: string;
  stream?: boolean;
  messages: { content: string }[];
}

const PROBE = 'ping';

/** A GPU node in the driver, over real HTTP, which dies, stalls and lies on request. */
export async function startFaultNode(): Promise<FaultNode> {
  const asked: number[] = [];
  const probes: number[] = [];
  const sockets = new Set<Socket>();
  let mode: NodeMode = 'serving';
  let lie: Lie | undefined;
  let open = 0;
  const isServing = () => mode === 'serving';
  const server = createServer((request, response) => {
    open++;
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      const isProbe = body.messages[0]?.content === PROBE;
      (isProbe ? probes : asked).push(performance.now());
      if (!isServing()) return;
      const order = isProbe ? {} : (JSON.parse(body.messages[0]!.content) as Order);
      if (body.stream) stream(response, order, lie, isServing).catch(() => response.destroy());
      else whole(response, order, body.model, lie);
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    if (mode !== 'dead') return;
    asked.push(performance.now());
    socket.resetAndDestroy();
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    probes,
    open: () => open,
    become(next) {
      mode = next;
      if (next === 'dead') for (const socket of sockets) socket.resetAndDestroy();
    },
    lie(next) {
      lie = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function whole(response: ServerResponse, { words = 5 }: Partial<Order>, model: string, lie?: Lie): void {
  const usage = { prompt_tokens: 10, completion_tokens: words, total_tokens: 10 + words };
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: lie?.model ?? model,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'x'.repeat(words) }, finish_reason: 'stop' },
    ],
    usage: lie && 'usage' in lie ? lie.usage : usage,
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function stream(
  response: ServerResponse,
  { words = 5, chunkMs = 0 }: Partial<Order>,
  lie: Lie | undefined,
  isServing: () => boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const token = lie?.model
    ? chunkEvent({ model: lie.model, choices: [{ index: 0, delta: { content: 'x' } }] })
    : delta('x');
  for (let sent = 0; lie?.endless || sent < words; sent++) {
    if (response.destroyed) return;
    if (!isServing()) return;
    const isFree = response.write(token);
    if (chunkMs > 0) await pause(chunkMs);
    else if (!isFree) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  const usage = lie && 'usage' in lie ? chunkEvent({ choices: [], usage: lie.usage }) : usageEvent(10, words);
  response.end(usage + DONE_EVENT);
}
