import { eachElement, scanObject } from '../../lib/json-scan.js';
import { skipSpace } from '../../lib/json-tokens.js';

const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/**
 * SDKs request embeddings as base64 (little-endian float32) by default and decode both encodings. Not every upstream supports
 * both, so an answer in the wrong encoding is converted.
 */
export type EmbeddingEncoding = 'float' | 'base64';

const KEY = '"embedding"';

/** The encoding of an answer's first vector; undefined without vectors. */
export function encodingOf(answer: Buffer): EmbeddingEncoding | undefined {
  for (let found = answer.indexOf(KEY); found >= 0; found = answer.indexOf(KEY, found + 1)) {
    const colon = skipSpace(answer, found + KEY.length);
    // `"object":"embedding"` contains the same text as a value. Only the key is followed by a colon.
    if (answer[colon] !== COLON) continue;
    const first = answer[skipSpace(answer, colon + 1)];
    if (first === OPEN_BRACKET) return 'float';
    return first === QUOTE ? 'base64' : undefined;
  }
  return undefined;
}

function toBase64(vector: number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let i = 0; i < vector.length; i++) bytes.writeFloatLE(vector[i]!, i * 4);
  return bytes.toString('base64');
}

function toFloats(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  const vector: number[] = new Array(bytes.length >> 2);
  for (let i = 0; i < vector.length; i++) vector[i] = bytes.readFloatLE(i * 4);
  return vector;
}

/** The JSON of one vector in the wanted encoding; undefined if it already has that encoding. */
function convertVector(json: Buffer, wanted: EmbeddingEncoding): Buffer | undefined {
  const vector = JSON.parse(json.toString('latin1')) as unknown;
  if (wanted === 'base64' && Array.isArray(vector)) return Buffer.from(`"${toBase64(vector)}"`, 'latin1');
  if (wanted === 'float' && typeof vector === 'string')
    return Buffer.from(JSON.stringify(toFloats(vector)), 'latin1');
  return undefined;
}

/**
 * Converts the vectors in the array `data` of an answer, between two offsets, to the wanted encoding. All other bytes stay the
 * same. Returns the array in pieces, or null if it would be larger than `mostBytes`.
 * @throws JsonScanError, SyntaxError
 */
export function convertVectors(
  answer: Buffer,
  from: number,
  end: number,
  wanted: EmbeddingEncoding,
  mostBytes: number,
): Buffer[] | null {
  const parts: Buffer[] = [];
  let bytes = 0;
  let copied = from;
  eachElement(answer, from, (start) => {
    const item = scanObject(answer, start);
    const vector = item.members.findLast(({ key }) => key === 'embedding');
    // Stop converting once the limit is exceeded.
    const converted =
      vector && bytes <= mostBytes
        ? convertVector(answer.subarray(vector.valueStart, vector.end), wanted)
        : undefined;
    if (vector && converted) {
      parts.push(answer.subarray(copied, vector.valueStart), converted);
      bytes += vector.valueStart - copied + converted.length;
      copied = vector.end;
    }
    return item.end;
  });
  parts.push(answer.subarray(copied, end));
  return bytes <= mostBytes ? parts : null;
}
