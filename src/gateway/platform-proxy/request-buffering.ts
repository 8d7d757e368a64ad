import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { MemoryPool } from '../../lib/fair/memory-pool.js';

/** Maximum size of a body; more than the platform accepts on any route. */
export const MAX_BUFFERED_BYTES = 800 * 1024;
/** Buffered even if the pool is full: enough for log-in and nearly all of `/api`. */
const ALWAYS_BYTES = 16 * 1024;
/** Each piece costs a run of Node's parser, however small it is. */
const MAX_PIECES = 1_024;
const INITIAL_BYTES = 1_024;
/** A network may use a third of the free memory, so that others always find room. */
export const NETWORK_PART = 3;

/** Why a body isn't buffered: it is too large for the platform, or there is no room at the moment. */
export type BodyRefusal = 'too_large' | 'no_room';
export type OnBuffered = (body: Readable | BodyRefusal) => void;

/** Whether to buffer a request's body before passing the request on. */
export function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Buffers a body before the request goes to the platform, so that a slow sender doesn't occupy a connection. Calls `done` once, or
 * never if the client leaves first. The bytes count until the body is passed on or the client leaves.
 */
export function bufferRequest(
  request: IncomingMessage,
  response: ServerResponse,
  network: string,
  pool: MemoryPool,
  done: OnBuffered,
): void {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BUFFERED_BYTES) {
    done('too_large');
    return;
  }
  // One buffer that grows: keeping pieces of one byte would cost some hundred bytes each.
  let buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  let bytes = 0;
  let pieces = 0;
  const buffered = pool.holding(network);
  const release = (): void => buffered.release();
  const settle = (body: Readable | BodyRefusal): void => {
    request.off('data', take).off('end', end);
    if (typeof body === 'string') {
      release();
      request.resume();
    }
    done(body);
  };
  const end = (): void => {
    // A request emits `close` once it has been read, but its body may still wait for the platform.
    request.off('close', release);
    response.once('close', release);
    settle(bodyOf(buffer.subarray(0, bytes), release));
  };
  const take = (chunk: Buffer): void => {
    const total = bytes + chunk.length;
    if (total > MAX_BUFFERED_BYTES || ++pieces > MAX_PIECES) {
      settle('too_large');
      return;
    }
    if (total > ALWAYS_BYTES && !buffered.take(total - buffered.bytes)) {
      settle('no_room');
      return;
    }
    if (total > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(total, 2 * buffer.length));
      buffer.copy(grown, 0, 0, bytes);
      buffer = grown;
    }
    chunk.copy(buffer, bytes);
    bytes = total;
  };
  request.on('data', take).on('end', end).on('close', release);
  // `close` follows and releases the bytes.
  request.on('error', () => undefined);
}

/** A stream of the body in one piece. Calls `release` when it closes. */
const bodyOf = (body: Buffer, release: () => void): Readable =>
  Readable.from([body], { objectMode: false }).once('close', release);
