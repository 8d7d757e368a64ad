import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';
import { ReaderMemory, SMALL_BYTES } from '../lib/fair/reader-memory.js';
import { rulesOf } from './route-guard.js';

/** Memory of a streamed response: two pieces, and the compressor. */
const STREAM_BYTES = 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the memory of large responses. Slow readers decide how long they stay, since unsent data waits in this
 * process. A response without room becomes a 503.
 */
export function boundLargeAnswers(app: FastifyInstance): void {
  const memory = new ReaderMemory();
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const bytes = heldBytes(payload);
    const { socket } = request.raw;
    // Pages are in memory once for all readers.
    if (bytes === 0 || socket.destroyed || (rulesOf(request)?.rate ?? 'none') === 'none') return payload;
    const { viewer, network } = request.context;
    const giveBack = memory.take({ accountId: viewer?.accountId, network }, bytes);
    if (!giveBack) {
      reply.removeHeader('content-disposition');
      throw full();
    }
    const over = (): void => {
      reply.raw.off('close', over);
      socket.off('close', over);
      giveBack();
    };
    reply.raw.once('close', over);
    // A response queued behind another on its connection gets no `close` of its own.
    socket.once('close', over);
    return payload;
  });
}

/** Bytes that a payload holds until it is sent; 0 for types that aren't counted. */
function heldBytes(payload: unknown): number {
  if (payload instanceof Readable) return STREAM_BYTES;
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return 0;
  const bytes = Buffer.byteLength(payload);
  return bytes > SMALL_BYTES ? bytes : 0;
}

const full = (): AppError =>
  new AppError('service_unavailable', {
    message: 'Too many large responses are in progress. Try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    quiet: true,
  });
