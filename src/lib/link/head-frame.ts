import type { ResponseHead } from '../upstream/response-head.js';
import { readServedBy } from '../upstream/served-by.js';
import { FrameError } from './frames.js';

/** What a `head` says of an answer. */
export interface HeadFrame {
  status: number;
  stream: boolean;
  retryAfterSeconds: number | undefined;
  /** Value of the header of served-by.ts; empty: it isn't known. */
  servedBy: string;
}

const FIXED_BYTES = 7;
const NONE = 0xffffffff;
const TYPES = ['application/json', 'text/event-stream'] as const;

/** Bytes of the payload. */
export const headBytes = ({ servedBy }: HeadFrame): number => FIXED_BYTES + servedBy.length;

/** Writes it into `target` at `at`. */
export function writeHead(target: Buffer, at: number, head: HeadFrame): void {
  target[at] = head.stream ? 1 : 0;
  target.writeUInt16BE(head.status, at + 1);
  target.writeUInt32BE(Math.min(head.retryAfterSeconds ?? NONE, NONE), at + 3);
  target.write(head.servedBy, at + FIXED_BYTES, 'latin1');
}

/** Reads a `head` as what the same answer says over HTTP. @throws FrameError */
export function readHead(payload: Buffer): ResponseHead {
  const contentType = TYPES[payload[0] ?? TYPES.length];
  if (contentType === undefined || payload.length < FIXED_BYTES) throw new FrameError('a head that is none');
  const status = payload.readUInt16BE(1);
  if (status < 200 || status > 599) throw new FrameError('a head without a status');
  const retryAfter = payload.readUInt32BE(3);
  return {
    status,
    contentType,
    retryAfter: retryAfter === NONE ? undefined : String(retryAfter),
    requestId: undefined,
    servedBy:
      payload.length > FIXED_BYTES ? readServedBy(payload.toString('latin1', FIXED_BYTES)) : undefined,
  };
}
