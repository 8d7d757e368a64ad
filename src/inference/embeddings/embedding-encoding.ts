import { skipSpace } from '../../lib/json-tokens.js';

const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/**
 * SDKs request embeddings as base64 (little-endian float32) by default and decode either encoding. Not every upstream
 * supports both: an answer in the other encoding is converted.
 */
export type EmbeddingEncoding = 'float' | 'base64';

interface EmbeddingItem {
  embedding: number[] | string;
}

const KEY = '"embedding"';

/** The encoding of an answer's first vector; undefined if there is none. */
export function encodingOf(answer: Buffer): EmbeddingEncoding | undefined {
  for (let found = answer.indexOf(KEY); found >= 0; found = answer.indexOf(KEY, found + 1)) {
    const colon = skipSpace(answer, found + KEY.length);
    // `"object":"embedding"` holds the same text as a value; the key is the one that a colon follows.
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

/**
 * The JSON of one vector in the requested encoding; undefined if it already has it.
 * @throws SyntaxError
 */
export function convertVector(json: Buffer, wanted: EmbeddingEncoding): Buffer | undefined {
  const vector = JSON.parse(json.toString('latin1')) as unknown;
  if (wanted === 'base64' && Array.isArray(vector)) return Buffer.from(`"${toBase64(vector)}"`, 'latin1');
  if (wanted === 'float' && typeof vector === 'string')
    return Buffer.from(JSON.stringify(toFloats(vector)), 'latin1');
  return undefined;
}

/** The same answer with its vectors in the form asked for. */
export function convertEmbeddings(answer: Buffer, wanted: EmbeddingEncoding): Buffer {
  const body = JSON.parse(answer.toString()) as { data: EmbeddingItem[] };
  for (const item of body.data) {
    if (wanted === 'base64' && Array.isArray(item.embedding)) item.embedding = toBase64(item.embedding);
    else if (wanted === 'float' && typeof item.embedding === 'string')
      item.embedding = toFloats(item.embedding);
  }
  return Buffer.from(JSON.stringify(body));
}
