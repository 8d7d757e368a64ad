import { costOf, type Money } from '../../lib/money.js';

/** Token counts as an upstream reports them. */
export interface TokenCounts {
  inputTokens: number;
  outputTokens: number;
}

/** A larger count is invalid (requirement F6). */
const MAX_TOKENS = 1_000_000_000;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS;

/**
 * Reads a `usage` object. An explicit zero is honoured; a missing or odd count gives undefined, and the caller
 * estimates. Embedding answers carry no `completion_tokens`.
 */
export function readUsage(usage: unknown, endpoint: 'chat' | 'embeddings'): TokenCounts | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens: input, completion_tokens: output } = usage as Record<string, unknown>;
  if (!isCount(input)) return undefined;
  if (endpoint === 'embeddings' && (output === undefined || output === null))
    return { inputTokens: input, outputTokens: 0 };
  return isCount(output) ? { inputTokens: input, outputTokens: output } : undefined;
}

/** Whether a chunk brings nothing but usage: OpenAI sends no choice with it, LiteLLM one in which nothing happens. */
export function isUsageOnly(choices: unknown): boolean {
  return Array.isArray(choices) && choices.every(isIdle);
}

function isIdle(choice: unknown): boolean {
  if (typeof choice !== 'object' || choice === null) return false;
  const { delta, finish_reason: finish } = choice as { delta?: unknown; finish_reason?: unknown };
  if (typeof delta !== 'object' || delta === null || (finish ?? null) !== null) return false;
  return Object.values(delta).every((value) => value === null || value === '');
}

/** Estimated tokens of a text of this many bytes: four bytes each, the usual rule of thumb. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** How much input a body has: the basis of holds and estimates. */
export interface InputSize {
  /** Bytes of all that may become input tokens. */
  bytes: number;
  /** Images that the messages name. */
  images: number;
  /** Maximum tokens of `input`: each of its elements has a separate context, so nothing limits their sum. */
  batchTokens: number;
  /** Most tokens of all else, which shares one context. Infinity: as many as it takes. */
  promptTokens: number;
}

/**
 * Tokens of an image for want of a count: what OpenAI documents for 1024 × 1024 pixels in high detail
 * (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
 */
const TYPICAL_IMAGE_TOKENS = 765;

/** Tokens of the input for want of a count. A prompt is at most one context, embeddings are as many as there are. */
export function estimateInputTokens(
  input: InputSize,
  endpoint: 'chat' | 'embeddings',
  contextWindow: number,
): number {
  const tokens = estimateTokens(input.bytes) + input.images * TYPICAL_IMAGE_TOKENS;
  return endpoint === 'chat' ? Math.min(tokens, contextWindow) : tokens;
}

/**
 * The same for a client that left before its input was reported. The size of videos, files and the like is unknown, so
 * leaving would make them cheap: they are charged as the whole context, as they were held. Staying gives the exact
 * count.
 */
export function missedInput(
  input: InputSize,
  endpoint: 'chat' | 'embeddings',
  contextWindow: number,
): number {
  if (input.promptTokens === Number.POSITIVE_INFINITY) return contextWindow;
  return estimateInputTokens(input, endpoint, contextWindow);
}

/**
 * Upper bound of what a call can cost: all of its input, a prompt up to the context, and the context (or `maxTokens`
 * where it is less) generated `candidates` times. A node reports the prompt once, however many answers it gives.
 */
export function costBound(
  call: { input: InputSize; maxTokens: number | null; candidates: number },
  model: { contextWindow: number; priceIn: Money; priceOut: Money },
): Money {
  const input = call.input.batchTokens + Math.min(call.input.promptTokens, model.contextWindow);
  // How many tokens the input really is isn't known: the whole context may be left for the output.
  const output = Math.min(call.maxTokens ?? model.contextWindow, model.contextWindow) * call.candidates;
  return costOf(input, output, model.priceIn, model.priceOut);
}
