import { costOf, type Money } from '../lib/money.js';

/** Token counts as an upstream reports them. */
export interface TokenCounts {
  inputTokens: number;
  outputTokens: number;
}

/** Beyond this a count is no count (CONTRACT.md "odd usage"). */
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

/** Tokens of a text of so many bytes, for want of a count: four bytes each, the field's rule of thumb. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/**
 * Upper bound of what a call can cost: every input byte a token up to the context, and the rest of the context (or
 * `maxTokens` where it is less) generated `choices` times.
 */
export function costBound(
  call: { inputBytes: number; maxTokens: number | null; choices: number },
  model: { contextWindow: number; priceIn: Money; priceOut: Money },
): Money {
  const input = Math.min(call.inputBytes, model.contextWindow);
  // How many tokens the input really is isn't known: the whole context may be left for the output.
  const output = Math.min(call.maxTokens ?? model.contextWindow, model.contextWindow) * call.choices;
  return costOf(input, output, model.priceIn, model.priceOut);
}
