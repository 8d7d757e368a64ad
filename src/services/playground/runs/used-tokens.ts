import { estimateTokens, type TokenCounts } from '../../../inference/usage/usage.js';
import type { CallEnd } from './model-calls.js';

/**
 * What counts toward an account's day. A model has read the prompt, and what it generated, also where the run was cancelled or
 * broke off before the usage came.
 */
export function usedTokens(end: CallEnd, text: string, estimatedTokens: number): TokenCounts {
  const { status, sent, inputTokens, outputTokens } = end;
  if (status === 'success' || !sent || (status === 'error' && text === '')) return end;
  return {
    inputTokens: Math.max(inputTokens, estimatedTokens),
    outputTokens: Math.max(outputTokens, estimateTokens(Buffer.byteLength(text))),
  };
}
