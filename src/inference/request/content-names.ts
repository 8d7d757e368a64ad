import { readKey } from '../../lib/json-tokens.js';

/** The meaning of names in `messages` and `input`: one list for checking addresses and for estimating the size of a call. */

/** Output of a model or a tool, from which no node fetches anything. Applies to everything beneath. */
export const OUTPUT = 1;
/** Part of a message's content. Applies to everything beneath. */
export const IN_CONTENT = 2;
/** A message's content. Its elements are parts. */
export const CONTENT = 4;
/** The type of a part. */
export const TYPE = 8;
/** A name under which vLLM caches media for all callers. */
export const CACHE_NAME = 16;
/** Holds an address, or the media as a `data:` URL. */
export const ADDRESS = 32;
/** Holds an identifier, data, or an address. */
export const MAYBE_ADDRESS = 64;
/** Holds one image. */
export const IMAGE = 128;
/** Holds media that can take up any number of tokens. */
export const UNBOUNDED = 256;
/** Holds base64 or a text. */
export const DATA = 512;

/** Meanings that also apply to everything beneath a field. */
export const INHERITED = OUTPUT | IN_CONTENT;

const ADDRESS_MEMBER = /_ur[il]$/;

const NAMES = new Map<string, number>();
const add = (bits: number, names: readonly string[]): void => {
  for (const name of names) NAMES.set(name, (NAMES.get(name) ?? 0) | bits);
};
// `input` is a tool's arguments in Anthropic's form. The `input` of embeddings is a member of the body.
add(OUTPUT, ['tool_calls', 'function_call', 'annotations', 'arguments', 'citations', 'input']);
add(IN_CONTENT | CONTENT, ['content']);
add(TYPE, ['type']);
add(CACHE_NAME, ['uuid']);
add(ADDRESS, ['url', 'uri', 'src']);
add(ADDRESS | IMAGE, ['image_url', 'image', 'input_image']);
add(ADDRESS | UNBOUNDED, ['images', 'video', 'videos', 'input_video', 'audio', 'audios', 'input_audio']);
add(MAYBE_ADDRESS | UNBOUNDED, ['file', 'files', 'file_id', 'file_data', 'input_file', 'document']);
add(MAYBE_ADDRESS, ['data', 'media', 'source']);
add(DATA, ['data', 'file_data']);

/** The meaning of a member's name. Some nodes ignore the case of names. */
function meaningOf(name: string): number {
  const lower = name.toLowerCase();
  return NAMES.get(lower) ?? (ADDRESS_MEMBER.test(lower) ? ADDRESS | UNBOUNDED : 0);
}

/** Longest name that a node reads. */
export const LONGEST_KEY = 256;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
/** The bit of lower case in a letter. */
const SMALL = 0x20;

interface Known {
  bytes: Buffer;
  meaning: number;
}
const step = (sum: number, byte: number): number => (Math.imul(sum, 31) + (byte | SMALL)) | 0;
const SUMS = new Map<number, Known>();
for (const [name, meaning] of NAMES) {
  const bytes = Buffer.from(name);
  SUMS.set(bytes.reduce(step, 0), { bytes, meaning });
}

/**
 * The meaning of the key from `start` to `end`, including quotes. Most keys have none, which a hash of their bytes reveals:
 * decoding each key would take longer than all the rest.
 */
export function meaningAt(json: Buffer, start: number, end: number): number {
  if (end - start > LONGEST_KEY) return 0;
  let sum = 0;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = json[at]!;
    if (byte === BACKSLASH || byte > 0x7f) return meaningOf(readKey(json, start, end));
    sum = step(sum, byte);
  }
  const known = SUMS.get(sum);
  if (known && isName(json, start, end, known.bytes)) return known.meaning;
  return json[end - 5] === UNDERSCORE ? meaningOf(readKey(json, start, end)) : 0;
}

function isName(json: Buffer, start: number, end: number, name: Buffer): boolean {
  if (end - start - 2 !== name.length) return false;
  return name.every((byte, at) => (json[start + 1 + at]! | SMALL) === (byte | SMALL));
}

const TEXT_PARTS = ['text', 'input_text', 'output_text', 'refusal', 'thinking', 'redacted_thinking'];
const MODEL_PARTS = ['reasoning', 'reasoning_text', 'summary_text', 'tool_use', 'tool_result', 'tool_call'];
const OTHER_PARTS = ['tool_reference', 'tool_response', 'function', 'function_call', 'custom'];
const IMAGE_PARTS = ['image_url', 'input_image', 'image'];
const UNBOUNDED_PARTS = [
  ...['video_url', 'input_video', 'video', 'audio_url', 'input_audio', 'audio'],
  ...['file_url', 'file', 'input_file', 'document', 'search_result'],
];
const PARTS = new Map<string, number>([
  ...[...TEXT_PARTS, ...MODEL_PARTS, ...OTHER_PARTS].map((type) => [type, 0] as const),
  ...IMAGE_PARTS.map((type) => [type, IMAGE] as const),
  ...UNBOUNDED_PARTS.map((type) => [type, UNBOUNDED] as const),
]);

/** What a part of this type holds: `IMAGE`, `UNBOUNDED`, or 0 for text; undefined for an unknown type. */
export const partKind = (type: string): number | undefined => PARTS.get(type);
