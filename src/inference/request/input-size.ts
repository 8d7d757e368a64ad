import type { Member } from '../../lib/json-scan.js';
import type { InputSize } from '../usage/usage.js';
import type { Media } from './content-check.js';

/** Texts and objects that control a call and never reach the prompt, like numbers and literals. */
const NO_INPUT = new Set([
  'model',
  'stream_options',
  'user',
  'stop',
  'logit_bias',
  'encoding_format',
  'metadata',
]);
/** Members that reach the prompt as they are. A chat template rewrites all others. */
const TEXTS = new Set(['messages', 'input', 'prompt']);
/** Members that can make the prompt longer than the body: a custom template, larger images, pages found by a search. */
const UNBOUNDED = new Set(['chat_template', 'mm_processor_kwargs', 'media_io_kwargs', 'web_search_options']);
/** Most bytes that a byte of JSON becomes when a template indents and escapes it. */
const REWRITTEN = 4;
/** Tokens that a chat template adds: its preamble, the default system prompt, instructions for tools. */
const TEMPLATE_TOKENS = 1_024;
/**
 * Most tokens of one image, which its bytes don't reveal: the highest documented figure of an open model, Qwen2-VL's
 * ("4-16384 visual tokens per image", https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct).
 */
const IMAGE_TOKENS = 16_384;

/** More images than this fill any context. */
const MAX_IMAGES = 64;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Measures a body's input by its scanned members and their media, without parsing. */
export function inputSize(body: Buffer, members: readonly Member[], media: Media): InputSize {
  let bytes = 0;
  let batchTokens = media.batchImages * IMAGE_TOKENS;
  let promptTokens = 0;
  for (const { key, valueStart, end } of members) {
    if (isScalar(body[valueStart]!) || NO_INPUT.has(key)) continue;
    const length = end - valueStart;
    bytes += length;
    if (key === 'input') batchTokens += length;
    else if (UNBOUNDED.has(key)) promptTokens = Number.POSITIVE_INFINITY;
    else promptTokens += TEXTS.has(key) ? length : length * REWRITTEN;
  }
  if (promptTokens > 0) promptTokens += TEMPLATE_TOKENS + media.images * IMAGE_TOKENS;
  if (media.unbounded || media.images > MAX_IMAGES) promptTokens = Number.POSITIVE_INFINITY;
  return { bytes, images: media.images + media.batchImages, batchTokens, promptTokens };
}

/** A number, true, false or null. */
const isScalar = (byte: number): boolean => byte !== QUOTE && byte !== OPEN_BRACE && byte !== OPEN_BRACKET;
