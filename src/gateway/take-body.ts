import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';
import type { BodyShare } from './body-budget.js';
import { V1_BODY_LIMIT_BYTES } from './route-table.js';

/** Long enough for an honest client to notice its answer, too short to be worth sending into. */
const LINGER_MS = 2_000;

const tooLarge = (): AppError =>
  new AppError('body_too_large', {
    message: `The body is larger than ${V1_BODY_LIMIT_BYTES / 2 ** 20} MiB.`,
  });

/**
 * Takes a body's announced length from the budget before a byte of it is read.
 * @throws AppError `body_too_large`, `service_unavailable`
 */
export function reserveBody(request: IncomingMessage, share: BodyShare): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > V1_BODY_LIMIT_BYTES) throw tooLarge();
  share.grow(announced);
}

/**
 * Collects a body and calls back once: with all of it, or with what is wrong with it. A client that leaves in the
 * middle is called back for with null: there is nobody to answer. What still comes of a refused body is thrown away,
 * so that the client can read its answer.
 */
export function takeBody(
  request: IncomingMessage,
  share: BodyShare,
  done: (error: AppError | null, body: Buffer | null) => void,
): void {
  const counted = request.headers['transfer-encoding'] !== undefined;
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  let over = false;
  const end = (error: AppError | null, body: Buffer | null): void => {
    if (over) return;
    over = true;
    done(error, body);
  };
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    bytes += chunk.length;
    try {
      if (bytes > V1_BODY_LIMIT_BYTES) throw tooLarge();
      if (counted) share.grow(chunk.length);
    } catch (error) {
      first = undefined;
      more = undefined;
      end(error as AppError, null);
      return;
    }
    // Nearly every body comes in one piece.
    if (!first) first = chunk;
    else if (more) more.push(chunk);
    else more = [first, chunk];
  });
  request.on('end', () => end(null, more ? Buffer.concat(more, bytes) : (first ?? EMPTY)));
  request.on('error', () => end(null, null));
}

/**
 * What still comes of a body that was refused is thrown away for a while, then the connection is cut. Cut at once, a
 * client in the middle of sending sees a broken connection in place of its answer.
 */
export function cutSoon(request: IncomingMessage): void {
  const cut = setTimeout(() => request.socket.destroy(), LINGER_MS);
  cut.unref();
  request.once('close', () => clearTimeout(cut));
}

const EMPTY = Buffer.alloc(0);
