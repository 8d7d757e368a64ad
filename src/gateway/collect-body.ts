import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../errors.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import { type BodyShare, SMALL_BODY_BYTES } from '../inference/memory/body-budget.js';
import { largerThan } from '../lib/larger-than.js';
import type { Exchange } from './exchange.js';
import type { MinimumRate } from './minimum-rate.js';
import { askForBody } from './request-guard.js';
import { V1_BODY_LIMIT_BYTES } from './route-rules.js';

/** Long enough for a client to notice its response, too short to be worth sending data into. */
const LINGER_MS = 2_000;

/** Maximum length of an echoed header value. */
const LONGEST_SHOWN = 64;

const tooLarge = (limitBytes: number): AppError =>
  new AppError('body_too_large', { message: largerThan(limitBytes) });

/** The body arrived too slowly. Answered with status 408. */
export class SlowBodyError extends AppError {
  constructor() {
    super('invalid_request', { message: 'The body arrived too slowly. Send it without pauses.' });
  }
}

export interface CollectBodyOptions {
  share: BodyShare;
  minimumRate: MinimumRate;
  /** Called once, as soon as the body is known to be larger than 64 KiB. May throw to refuse the body. */
  onLarge(): void;
  /** By default the limit of `/v1`. */
  limitBytes?: number;
}

/** Rejects compressed bodies. @throws AppError `unsupported_media_type` */
export function requireUnencoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  const shown = encoding.slice(0, LONGEST_SHOWN).replace(/[^\w ,.-]/g, '?');
  throw new AppError('unsupported_media_type', {
    message: `Content-Encoding "${shown}" is not supported. Send the body uncompressed.`,
  });
}

/**
 * Collects the body of a request; sends 100 Continue first if the client expects it. The rest of a rejected body is discarded, so
 * that the client can read its response.
 * @throws AppError `body_too_large`, SlowBodyError, CallerGoneError, errors of `onLarge` and `share`
 */
export async function collectBody(exchange: Exchange, options: CollectBodyOptions): Promise<Buffer> {
  const { request, response } = exchange;
  const { minimumRate, onLarge, limitBytes = V1_BODY_LIMIT_BYTES } = options;
  // Only bytes that arrive count against the budget, not the announced length.
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitBytes) throw tooLarge(limitBytes);
  if (announced > SMALL_BODY_BYTES) onLarge();
  askForBody(request, response);
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    const unwatch = minimumRate.watch(exchange, () => fail(new SlowBodyError()));
    /** Stops collecting and drops the pieces, because the request object lives as long as its response. */
    const end = (): Buffer[] => {
      unwatch();
      request.off('data', take).off('end', complete);
      const collected = pieces;
      pieces = [];
      return collected;
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const complete = (): void => {
      const collected = end();
      // Nearly every body arrives in one piece.
      resolve(collected.length === 1 ? collected[0]! : Buffer.concat(collected));
    };
    const take = (chunk: Buffer): void => {
      try {
        receive(exchange, chunk, options);
        pieces.push(chunk);
      } catch (error) {
        fail(error);
      }
    };
    request.on('data', take).on('end', complete);
    request.on('error', () => fail(new CallerGoneError()));
  });
}

/** Counts a piece of a body. @throws AppError, errors of `onLarge` and `share` */
function receive(
  exchange: Exchange,
  chunk: Buffer,
  { share, onLarge, limitBytes = V1_BODY_LIMIT_BYTES }: CollectBodyOptions,
): void {
  const before = exchange.bodyBytes;
  exchange.bodyBytes += chunk.length;
  const { bodyBytes, request } = exchange;
  if (bodyBytes > limitBytes) throw tooLarge(limitBytes);
  const isAnnounced = request.headers['content-length'] !== undefined;
  if (!isAnnounced && before <= SMALL_BODY_BYTES && bodyBytes > SMALL_BODY_BYTES) onLarge();
  share.receive(chunk.length);
}

/**
 * Discards the rest of a rejected body for a while, then closes the connection. If it were closed immediately, a client that is
 * still sending would see a broken connection instead of its response. If the response waits behind others, this starts when its
 * turn comes.
 */
export function cutSoon(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket) cutLater(request);
  else response.once('socket', () => cutLater(request));
}

function cutLater(request: IncomingMessage): void {
  const cut = setTimeout(() => {
    // A complete request may wait behind another one that is still being answered; it is not cut.
    if (!request.complete) request.socket.destroy();
  }, LINGER_MS);
  cut.unref();
  request.once('close', () => clearTimeout(cut));
}
