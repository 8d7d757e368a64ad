import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { HeldBytes } from './held-bytes.js';

/** More than the platform takes of any body; a larger one passes as it comes, and is refused there. */
const MOST_BYTES = 288 * 1024;
/** Kept of every body, also where there is no room: what log-in and nearly all of `/api` need. */
const ALWAYS_BYTES = 16 * 1024;

/** The body is there, or as much of it as is kept; null: there is no room for it. */
export type BodyTaker = (body: Readable | null) => void;

/** Whether a request brings a body that is worth waiting for. */
export function hasHeldBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > 0 && announced <= MOST_BYTES;
}

/**
 * Waits until a body is there before anything of it goes to the platform: whoever sends slowly holds no connection to it.
 * Calls back once, and never when the client leaves before.
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
  // Told by its close.
  request.on('error', () => undefined);
}

/** What was kept, then the rest; `release` when it is gone. */
function bodyOf(chunks: Buffer[], rest: IncomingMessage | undefined, release: () => void): Readable {
  async function* parts(): AsyncGenerator<Buffer> {
    yield* chunks.splice(0);
    release();
    // An answer that comes before the end must still reach the client.
    if (rest) for await (const chunk of rest.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  }
  return Readable.from(parts(), { objectMode: false }).once('close', release);
}
