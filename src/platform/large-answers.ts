import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';
import { ReaderMemory, SMALL_BYTES } from '../lib/fair/reader-memory.js';
import { rulesOf } from './route-guard.js';

/** What an answer holds that is sent piece by piece: two pieces, and what compresses them. */
const STREAM_BYTES = 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the memory of large answers. Their readers decide how long they stay, since what the connection hasn't taken waits in this
 * process. An answer for which there is no room is a 503.
 */
export function boundLargeAnswers(app: FastifyInstance): void {
  const memory = new ReaderMemory();
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const bytes = heldBytes(payload);
    const { socket } = request.raw;
    // Pages are in memory once, however many read them.
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
    // An answer that was still behind another on its connection isn't told.
    socket.once('close', over);
    return payload;
  });
}

/** What a payload holds until it is sent; 0 of one that isn't counted. */
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
