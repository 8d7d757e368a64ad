import { createHash } from 'node:crypto';

export const DIMENSIONS = 768;
const MAX_FEATURES = 20_000;
/** Words weigh more than their trigrams, which only bring inflections closer. */
const WORD_WEIGHT = 1;
const TRIGRAM_WEIGHT = 0.35;

/** Adds a feature at positions and with signs taken from its hash. */
function addFeature(vector: Float64Array, feature: string, weight: number): void {
  const hash = createHash('md5').update(feature).digest();
  for (let at = 0; at < 16; at += 4) {
    const place = hash.readUInt32LE(at);
    vector[(place >>> 1) % vector.length]! += place & 1 ? weight : -weight;
  }
}

function features(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    weights.set(feature, (weights.get(feature) ?? 0) + weight);
  };
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (weights.size > MAX_FEATURES) break;
    add(`w:${word}`, WORD_WEIGHT);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at++) add(`t:${padded.slice(at, at + 3)}`, TRIGRAM_WEIGHT);
  }
  return weights;
}

/**
 * A vector of unit length. Texts that share words or parts of words are close; others are nearly orthogonal. The same text always
 * gives the same vector. With fewer `dimensions`, the vector is cut and normalised again.
 */
export function embed(text: string, dimensions = DIMENSIONS): Float32Array {
  const sum = new Float64Array(DIMENSIONS);
  for (const [feature, weight] of features(text)) addFeature(sum, feature, Math.sqrt(weight));
  // A text without words still needs a direction.
  if (sum.every((value) => value === 0)) addFeature(sum, `e:${text}`, 1);
  const kept = sum.subarray(0, dimensions);
  // All features may be in the part that was cut.
  if (kept.every((value) => value === 0)) kept[0] = 1;
  const length = Math.sqrt(kept.reduce((total, value) => total + value * value, 0));
  return Float32Array.from(kept, (value) => value / length);
}

/** Little-endian float32, as SDKs decode it. */
export function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
