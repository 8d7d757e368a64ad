import { formatMoney, type Money, parseMoney } from '../../lib/money.js';
import { wilsonInterval } from '../../lib/wilson.js';
import type { VersionComparisonOutput, VersionStatsOutput } from './prompts.outputs.js';
import type { VersionCounts } from './version-hours.store.js';

/** Counts of a version, over all models. */
interface VersionSums {
  requests: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  cost: Money;
}

/** Sums the counts of one version. */
export function sumOf(counts: readonly VersionCounts[]): VersionSums {
  const sums: VersionSums = { requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, cost: 0n };
  for (const { requests, errors, input_tokens, output_tokens, cost } of counts) {
    sums.requests += requests;
    sums.errors += errors;
    sums.inputTokens += Number(input_tokens);
    sums.outputTokens += Number(output_tokens);
    sums.cost += parseMoney(cost);
  }
  return sums;
}

/** The statistics of a version, with two percentiles of its latencies, which are absent if no call succeeded. */
export function statsOf(
  { id, version }: { id: string; version: number },
  windowDays: number,
  { requests, errors, inputTokens, outputTokens, cost }: VersionSums,
  [p50 = 0, p95 = 0]: readonly number[] = [],
): VersionStatsOutput {
  const { low, high } = wilsonInterval(errors, requests);
  return {
    version_id: id,
    version,
    window_days: windowDays,
    requests,
    errors,
    error_rate: requests === 0 ? 0 : errors / requests,
    error_rate_low: low,
    error_rate_high: high,
    p50_latency_ms: p50,
    p95_latency_ms: p95,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: formatMoney(cost),
  };
}

/** Which of two versions fails less often, as far as the calls show. */
export function fewerErrors(
  first: VersionStatsOutput,
  second: VersionStatsOutput,
): VersionComparisonOutput['fewer_errors'] {
  if (first.error_rate_high < second.error_rate_low) return 'first';
  if (second.error_rate_high < first.error_rate_low) return 'second';
  return 'inconclusive';
}
