import { eachElement, scanObjectInParts } from '../../lib/json-scan.js';
import type { Work } from '../../lib/turns.js';
import { convertVector, type EmbeddingEncoding } from './embedding-encoding.js';

/** Pieces of the result are about this large: few enough to send, small enough to copy. */
const BLOCK_BYTES = 256 * 1024;

/**
 * Converts the vectors in `data`, the array of an embeddings answer that begins at `from`, and leaves every other byte
 * as it came. Pauses often.
 * @param end Offset just past the array.
 * @param keep Called with the size of each new piece. What it throws ends the work.
 * @returns The array in pieces.
 * @throws JsonScanError, SyntaxError
 */
export function* convertInParts(
  answer: Buffer,
  from: number,
  end: number,
  wanted: EmbeddingEncoding,
  keep: (bytes: number) => void,
): Work<Buffer[]> {
  const blocks: Buffer[] = [];
  let parts: Buffer[] = [];
  let bytes = 0;
  let copied = from;
  const add = (part: Buffer): void => {
    parts.push(part);
    bytes += part.length;
  };
  const closeBlock = (): void => {
    keep(bytes);
    blocks.push(Buffer.concat(parts, bytes));
    parts = [];
    bytes = 0;
  };
  yield* eachElement(answer, from, function* (start) {
    const item = yield* scanObjectInParts(answer, start);
    const vector = item.members.findLast(({ key }) => key === 'embedding');
    const converted = vector && convertVector(answer.subarray(vector.valueStart, vector.end), wanted);
    if (vector && converted) {
      add(answer.subarray(copied, vector.valueStart));
      add(converted);
      copied = vector.end;
    }
    if (bytes >= BLOCK_BYTES) closeBlock();
    return item.end;
  });
  add(answer.subarray(copied, end));
  closeBlock();
  return blocks;
}
