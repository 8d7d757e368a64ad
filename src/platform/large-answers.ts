import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { MemoryPool } from '../lib/memory-pool.js';
import { accountOwner, networkOwner } from '../lib/work-owner.js';
import { rulesOf } from './route-guard.js';

/** Answers up to here aren't counted, as nearly every one is. */
const SMALL_BYTES = 1024 * 1024;
/** What an answer holds that is sent piece by piece: two pieces, and what compresses them. */
const STREAM_BYTES = 1024 * 1024;
/** Of all counted answers together. */
const MOST_BYTES = 128 * 1024 * 1024;
/** The answers of an account may hold as much as is left for all others. */
const ACCOUNT_PART = 1;
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the memory of large answers. Their readers decide how long they stay, since what the connection hasn't taken waits in this
 * process. An answer for which there is no room is a 503.
 */
export function boundLargeAnswers(app: FastifyInstance): void {
  const pool = new MemoryPool(MOST_BYTES);
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const bytes = heldBytes(payload);
    const { socket } = request.raw;
    // Pages are in memory once, however many read them.
    if (bytes === 0 || socket.destroyed || (rulesOf(request)?.rate ?? 'none') === 'none') return payload;
    const owner = ownerOf(request);
    if (!pool.takePart(owner, bytes, ACCOUNT_PART)) {
      reply.removeHeader('content-disposition');
      throw full();
    }
    const giveBack = (): void => {
      reply.raw.off('close', giveBack);
      socket.off('close', giveBack);
      pool.give(owner, bytes);
    };
    reply.raw.once('close', giveBack);
    // An answer that was still behind another on its connection isn't told.
    socket.once('close', giveBack);
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

const ownerOf = ({ context: { viewer, network } }: FastifyRequest): string =>
  viewer ? accountOwner(viewer.accountId) : networkOwner(network);

const full = (): AppError =>
  new AppError('service_unavailable', {
    message: 'Too many large responses are in progress. Try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    quiet: true,
  });
