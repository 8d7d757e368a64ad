import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../errors.js';
import { type BodyShare, SMALL_BODY_BYTES } from '../inference/memory/body-budget.js';
import { largerThan } from '../lib/larger-than.js';
import type { Pace } from '../lib/pace.js';
import type { Exchange } from './exchange.js';
import { V1_BODY_LIMIT_BYTES } from './route-rules.js';

/** Long enough for an honest client to notice its answer, too short to be worth sending into. */
const LINGER_MS = 2_000;

/** Of a header that is said back. */
const LONGEST_SHOWN = 64;

const tooLarge = (limitBytes: number): AppError =>
  new AppError('body_too_large', { message: largerThan(limitBytes) });

/** A body that came too slowly: answered with status 408. */
export class SlowBodyError extends AppError {
  constructor() {
    super('invalid_request', { message: 'The body arrived too slowly. Send it without pauses.' });
  }
}

export interface TakeBodyOptions {
  share: BodyShare;
  pace: Pace;
  /** Called once, as soon as the body is known to be larger than 64 KiB. What it throws refuses the rest. */
  onLarge(): void;
  /** Those of `/v1` unless told. */
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
 * Rejects a body by its announced length. The announcement takes nothing from the budget.
 * @throws AppError `body_too_large`, and what `onLarge` throws
 */
export function checkAnnounced(
  { headers }: IncomingMessage,
  { onLarge, limitBytes = V1_BODY_LIMIT_BYTES }: TakeBodyOptions,
): void {
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > limitBytes) throw tooLarge(limitBytes);
  if (announced > SMALL_BODY_BYTES) onLarge();
}

/**
 * Collects a body and calls back once, with the whole body or with an error, or with null if the client disconnects.
 * The rest of a rejected body is discarded, so that the client can read its response.
 */
export function takeBody(
  exchange: Exchange,
  { share, pace, onLarge, limitBytes = V1_BODY_LIMIT_BYTES }: TakeBodyOptions,
  done: (error: unknown, body: Buffer | null) => void,
): void {
  const { request } = exchange;
  const announced = request.headers['content-length'] !== undefined;
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let over = false;
  const end = (error: unknown, body: Buffer | null): void => {
    if (over) return;
    over = true;
    unwatch();
    first = undefined;
    more = undefined;
    done(error, body);
  };
  const unwatch = pace.watch(exchange, () => end(new SlowBodyError(), null));
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    const before = exchange.bodyBytes;
    const bytes = before + chunk.length;
    exchange.bodyBytes = bytes;
    try {
      if (bytes > limitBytes) throw tooLarge(limitBytes);
      if (!announced && before <= SMALL_BODY_BYTES && bytes > SMALL_BODY_BYTES) onLarge();
      share.receive(chunk.length);
    } catch (error) {
      end(error, null);
      return;
    }
    // Nearly every body comes in one piece.
    if (!first) first = chunk;
    else if (more) more.push(chunk);
    else more = [first, chunk];
  });
  request.on('end', () => end(null, more ? Buffer.concat(more, exchange.bodyBytes) : (first ?? EMPTY)));
  request.on('error', () => end(null, null));
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

const EMPTY = Buffer.alloc(0);
