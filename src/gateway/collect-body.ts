import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../errors.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import { type BodyShare, SMALL_BODY_BYTES } from '../inference/memory/body-budget.js';
import { largerThan } from '../lib/larger-than.js';
import type { MinimumRate } from '../lib/minimum-rate.js';
import type { Exchange } from './exchange.js';
import { askForBody } from './request-guard.js';
import { V1_BODY_LIMIT_BYTES } from './route-rules.js';

/** Long enough for an honest client to notice its answer, too short to be worth sending into. */
const LINGER_MS = 2_000;

/** Maximum length of an echoed header value. */
const LONGEST_SHOWN = 64;

const tooLarge = (limitBytes: number): AppError =>
  new AppError('body_too_large', { message: largerThan(limitBytes) });

/** A body that came too slowly: answered with status 408. */
export class SlowBodyError extends AppError {
  constructor() {
    super('invalid_request', { message: 'The body arrived too slowly. Send it without pauses.' });
  }
}

export interface CollectBodyOptions {
  share: BodyShare;
  minimumRate: MinimumRate;
  /** Called once, as soon as the body is known to be larger than 64 KiB. What it throws refuses the rest. */
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
 * Asks for the body if the client waits for that, and collects it. The rest of a rejected body is discarded, so that the
 * client can read its response.
 * @throws AppError `body_too_large`, SlowBodyError, what `onLarge` and the share throw; CallerGoneError
 */
export async function collectBody(exchange: Exchange, options: CollectBodyOptions): Promise<Buffer> {
  const { request, response } = exchange;
  const { minimumRate, onLarge, limitBytes = V1_BODY_LIMIT_BYTES } = options;
  // What a client announces takes nothing from the budget.
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitBytes) throw tooLarge(limitBytes);
  if (announced > SMALL_BODY_BYTES) onLarge();
  askForBody(request, response);
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    const unwatch = minimumRate.watch(exchange, () => fail(new SlowBodyError()));
    /** Ends the collecting, and keeps nothing of the body: the request lives as long as its answer. */
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
      // Nearly every body comes in one piece.
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

/** Counts a piece of a body. @throws AppError, and what `onLarge` and the share throw */
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
 * The rest of a rejected body is discarded for a while, then the connection is closed. If it were closed immediately, a
 * client that is still sending would see a broken connection instead of its response. A response that waits behind
 * others lets those go first.
 */
export function cutSoon(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket) cutLater(request);
  else response.once('socket', () => cutLater(request));
}

function cutLater(request: IncomingMessage): void {
  const cut = setTimeout(() => {
    // A whole unread body: its response waits behind another one, which continues.
    if (!request.complete) request.socket.destroy();
  }, LINGER_MS);
  cut.unref();
  request.once('close', () => clearTimeout(cut));
}
