import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { HeldBytes } from './held-bytes.js';

/** More than the platform accepts on any route. Larger bodies are streamed, and the platform refuses them. */
const MOST_BYTES = 288 * 1024;
/** Always buffered, even without room: enough for log-in and nearly all of `/api`. */
const ALWAYS_BYTES = 16 * 1024;

/** Takes the body, or null when there is no room to buffer it. */
export type BodyTaker = (body: Readable | null) => void;

/** Whether to buffer a request's body before passing the request on. */
export function hasHeldBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > 0 && announced <= MOST_BYTES;
}

/**
 * Buffers a body before the request goes to the platform, so that a slow sender holds no connection to it. Calls back
 * once, or never if the client leaves first.
 */
export function holdBody(request: IncomingMessage, client: string, held: HeldBytes, done: BodyTaker): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let counted = 0;
  const release = (): void => {
    held.remove(client, counted);
    counted = 0;
  };
  const settle = (body: Readable | null): void => {
    request.off('data', take).off('end', end).off('close', release);
    done(body);
  };
  const end = (): void => settle(bodyOf(chunks, undefined, release));
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > ALWAYS_BYTES && !held.hasRoom(client)) {
      release();
      settle(null);
      request.resume();
      return;
    }
    chunks.push(chunk);
    if (bytes > ALWAYS_BYTES) {
      held.add(client, chunk.length);
      counted += chunk.length;
    }
    if (bytes < MOST_BYTES) return;
    request.pause();
    settle(bodyOf(chunks, request, release));
  };
  request.on('data', take).on('end', end).on('close', release);
  // `close` follows and releases the bytes.
  request.on('error', () => undefined);
}

/** The buffered part, then the rest as it arrives. Calls `release` once the buffered part is gone. */
function bodyOf(chunks: Buffer[], rest: IncomingMessage | undefined, release: () => void): Readable {
  async function* parts(): AsyncGenerator<Buffer> {
    yield* chunks.splice(0);
    release();
    // Destroying the request would destroy its socket, and the client would lose an early answer.
    if (rest) for await (const chunk of rest.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  }
  return Readable.from(parts(), { objectMode: false }).once('close', release);
}
