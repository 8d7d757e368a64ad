import type { Member } from '../lib/json-scan.js';
import type { InputSize } from '../upstream/usage.js';

/** Texts and objects that steer a call and never reach the prompt. Numbers and literals never do either. */
const NO_INPUT = new Set([
  'model',
  'stream_options',
  'user',
  'stop',
  'logit_bias',
  'encoding_format',
  'metadata',
]);
/** Nodes take these as they are. A chat template writes the others anew. */
const TEXTS = new Set(['messages', 'input', 'prompt']);
/** With these a prompt can grow beyond all that the body shows: a template of one's own, larger images, pages found. */
const UNBOUNDED = new Set(['chat_template', 'mm_processor_kwargs', 'media_io_kwargs', 'web_search_options']);
/** Indented and escaped by a template, a byte of JSON becomes at most so many. */
const REWRITTEN = 4;
/** What a chat template adds of its own: its preamble, the default system prompt, how tools are called. */
const TEMPLATE_TOKENS = 1_024;
/**
 * Most tokens of one image, whose bytes don't show them: Qwen2-VL's, the highest documented figure of an open model
 * ("4-16384 visual tokens per image", https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct).
 */
const IMAGE_TOKENS = 16_384;

/** Larger bodies fill a context by their bytes alone, so that what they hold needs no search. */
const SEARCHED_BYTES = 1024 * 1024;
/** From here on they fill a context too; a search for more would only take time. */
const MAX_IMAGES = 64;
const MAX_HITS = 1_024;

/** How much input a body has, from its scanned members; nothing is parsed. */
export function inputSize(body: Buffer, members: readonly Member[]): InputSize {
  let bytes = 0;
  let batchTokens = 0;
  let promptTokens = 0;
  for (const { key, valueStart, end } of members) {
    if (isScalar(body[valueStart]!) || NO_INPUT.has(key)) continue;
    const length = end - valueStart;
    bytes += length;
    if (key === 'input') batchTokens += length;
    else if (UNBOUNDED.has(key)) promptTokens = Number.POSITIVE_INFINITY;
    else promptTokens += TEXTS.has(key) ? length : length * REWRITTEN;
  }
  if (promptTokens === 0) return { bytes, images: 0, batchTokens, promptTokens };
  const images = promptTokens > SEARCHED_BYTES ? undefined : countImages(body);
  return {
    bytes,
    images: images ?? 0,
    batchTokens,
    promptTokens:
      images === undefined
        ? Number.POSITIVE_INFINITY
        : promptTokens + TEMPLATE_TOKENS + images * IMAGE_TOKENS,
  };
}

/** A number, true, false or null. */
const isScalar = (byte: number): boolean => byte !== QUOTE && byte !== OPEN_BRACE && byte !== OPEN_BRACKET;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const COLON = 0x3a;
const SPACE = 0x20;
const BACKSLASH = 0x5c;

/** Ends of keys, searched by their underscore, which is rare, and what stands before them. */
const KEYS = [
  { end: Buffer.from('_url"'), names: ['"image', '"video', '"audio', '"file', '"document'] },
  { end: Buffer.from('_id"'), names: ['"file'] },
  { end: Buffer.from('_data"'), names: ['"file'] },
];
const LONGEST_NAME = 9;
const IMAGE = '"image';
const ESCAPE = Buffer.from('\\u00');
/** Letters and the underscore: no encoder escapes them, so that who does hides a name. */
const HIDING = ['\\u005', '\\u006', '\\u007'].map((text) => Buffer.from(text));

/**
 * How many images the parts of messages name, by their key `image_url`; undefined where that can't be told: there are
 * very many, or parts of a kind (video, audio, files) that can take any number of tokens.
 */
function countImages(body: Buffer): number | undefined {
  if (hidesNames(body)) return undefined;
  let images = 0;
  let hits = 0;
  for (const { end, names } of KEYS) {
    for (let at = body.indexOf(end); at >= 0; at = body.indexOf(end, at + end.length)) {
      if (++hits > MAX_HITS) return undefined;
      const before = body.toString('latin1', Math.max(0, at - LONGEST_NAME), at);
      const name = names.find((one) => before.endsWith(one));
      if (name === undefined || !isKey(body, at + end.length)) continue;
      if (name !== IMAGE || ++images > MAX_IMAGES) return undefined;
    }
  }
  return images;
}

/** Whether letters are spelled as escapes. Behind a backslash that is itself escaped they are only text. */
function hidesNames(body: Buffer): boolean {
  const first = body.indexOf(ESCAPE);
  if (first < 0) return false;
  for (const text of HIDING) {
    for (let at = body.indexOf(text, first); at >= 0; at = body.indexOf(text, at + text.length)) {
      let backslashes = at;
      while (body[backslashes - 1] === BACKSLASH) backslashes--;
      if ((at - backslashes) % 2 === 0) return true;
    }
  }
  return false;
}

/** Whether what ends at `from` is a key: a colon follows. */
function isKey(body: Buffer, from: number): boolean {
  let at = from;
  while (at < body.length && body[at]! <= SPACE) at++;
  return body[at] === COLON;
}
