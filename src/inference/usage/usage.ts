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
 * Reads a `usage` object. Returns undefined if a count is missing or odd; then estimate. An explicit zero counts. Embedding
 * answers have no `completion_tokens`.
 */
export function readUsage(usage: unknown, endpoint: 'chat' | 'embeddings'): TokenCounts | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens: input, completion_tokens: output } = usage as Record<string, unknown>;
  if (!isCount(input)) return undefined;
  if (endpoint === 'embeddings' && (output === undefined || output === null))
    return { inputTokens: input, outputTokens: 0 };
  return isCount(output) ? { inputTokens: input, outputTokens: output } : undefined;
}

/** Whether a chunk contains nothing but usage: OpenAI sends it without choices, LiteLLM with one in which nothing happens. */
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

/** The size of a body's input: the basis of holds and estimates. */
export interface InputSize {
  /** Bytes of all that may become input tokens. */
  bytes: number;
  /** Number of images. */
  images: number;
  /** Most tokens of `input`. Each of its elements has a context of its own, so the sum isn't limited. */
  batchTokens: number;
  /** Most tokens of everything else, which shares one context. Infinity: as many as the context has. */
  promptTokens: number;
}

/**
 * The estimate for an image: what OpenAI documents for 1024 × 1024 pixels in high detail
 * (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
 */
const TYPICAL_IMAGE_TOKENS = 765;

/** Estimates input tokens without a reported count. A prompt fits into one context; embeddings have no such limit. */
export function estimateInputTokens(
  input: InputSize,
  endpoint: 'chat' | 'embeddings',
  contextWindow: number,
): number {
  const tokens = estimateTokens(input.bytes) + input.images * TYPICAL_IMAGE_TOKENS;
  return endpoint === 'chat' ? Math.min(tokens, contextWindow) : tokens;
}

/**
 * The same for a client that left before the upstream reported its input. The size of videos, files and the like is unknown,
 * and a low estimate would reward leaving. So they are charged as the whole context, as in the hold. A client that stays pays
 * the exact count.
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
 * The most that a call can cost: its whole input, with a prompt of at most one context, and `candidates` times the output, each
 * of at most `maxTokens` or the context. A node reports the prompt once, however many answers it generates.
 */
export function costBound(
  call: { input: InputSize; maxTokens: number | null; candidates: number },
  model: { contextWindow: number; priceIn: Money; priceOut: Money },
): Money {
  const input = call.input.batchTokens + Math.min(call.input.promptTokens, model.contextWindow);
  // The real number of input tokens is unknown, so the output may get the whole context.
  const output = Math.min(call.maxTokens ?? model.contextWindow, model.contextWindow) * call.candidates;
  return costOf(input, output, model.priceIn, model.priceOut);
}
