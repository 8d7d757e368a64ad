/**
 * What passes over a link between an edge and the model proxy. A frame is a header of eight bytes (its kind, the length of
 * its payload in three bytes, the number of its call in four) and the payload. Numbers are big-endian.
 *
 * The edge opens a call under a number that is free. The proxy ends every call that was opened with one `end` or `cut`,
 * also one that the edge has cancelled; only then is the number free again.
 */
export const KIND = {
  /** Edge: a call, with its body or the beginning of it. */
  open: 1,
  /** Edge: more of the body. */
  body: 2,
  /** Edge: the answer isn't wanted any more. */
  cancel: 3,
  /** Edge: so many more bytes of the answer may come. */
  credit: 4,
  /** Edge: asks for a `pong`. */
  ping: 5,
  /** Proxy: the answer begins. */
  head: 6,
  /** Proxy: bytes of the answer. */
  data: 7,
  /** Proxy: the answer is whole. */
  end: 8,
  /** Proxy: nothing more comes of an answer that isn't whole. */
  cut: 9,
  pong: 10,
  /** Proxy: no further calls on this link; those under way go on. */
  drain: 11,
} as const;

export const HEADER_BYTES = 8;
/** Most of a body that one frame carries: what others wait for behind it. */
export const PIECE_BYTES = 32 * 1024;
/** An `open` carries a head as well. */
export const MAX_PAYLOAD_BYTES = PIECE_BYTES + 8 * 1024;
/** Bytes of an answer that may be under way, or lie at the edge, without being read. */
export const WINDOW_BYTES = 128 * 1024;
/** Calls that a link carries at once. */
export const MAX_CALLS = 65_536;

/** The peer sent what no frame can be; the link is of no use any more. */
export class FrameError extends Error {
  override name = 'FrameError';
}

/** Writes a frame's header into `target` at `at`. */
export function writeHeader(target: Buffer, at: number, kind: number, id: number, length: number): void {
  target[at] = kind;
  target[at + 1] = length >>> 16;
  target[at + 2] = length >>> 8;
  target[at + 3] = length;
  target[at + 4] = id >>> 24;
  target[at + 5] = id >>> 16;
  target[at + 6] = id >>> 8;
  target[at + 7] = id;
}

/** The number in the payload of a `credit`. @throws FrameError */
export function readCredit(payload: Buffer): number {
  if (payload.length !== 4) throw new FrameError('a credit of another length');
  return payload.readUInt32BE(0);
}
