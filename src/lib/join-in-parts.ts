import type { Work } from './turns.js';

const PART_BYTES = 256 * 1024;

/** Joins the pieces of a large text, of `bytes` in total. Takes them out of `pieces`, so that few are in memory twice. */
export function* joinInParts(pieces: Buffer[], bytes: number): Work<Buffer> {
  const joined = Buffer.allocUnsafe(bytes);
  let at = 0;
  let pauseAt = PART_BYTES;
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
    at += piece.copy(joined, at);
    if (at < pauseAt) continue;
    yield;
    pauseAt = at + PART_BYTES;
  }
  return joined;
}
