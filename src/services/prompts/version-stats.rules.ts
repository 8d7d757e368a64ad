import { formatDecimal } from '../../lib/money.js';
import { wilsonInterval } from '../../lib/wilson.js';
import type { VersionComparisonOutput, VersionStatsOutput } from './prompts.outputs.js';
import type { VersionCounts } from './version-stats.store.js';

/** The answer about a version; without counts it has no calls. */
export function statsOf(
  { id, version }: { id: string; version: number },
  windowDays: number,
  counts: VersionCounts | undefined,
): VersionStatsOutput {
  const { requests = 0, errors = 0 } = counts ?? {};
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
    p50_latency_ms: counts?.p50 ?? 0,
    p95_latency_ms: counts?.p95 ?? 0,
    input_tokens: counts?.input_tokens ?? 0,
    output_tokens: counts?.output_tokens ?? 0,
    cost_usd: formatDecimal(counts?.cost ?? '0'),
  };
}

/** Which of two fails less often, as far as the calls say. */
export function fewerErrors(
  first: VersionStatsOutput,
  second: VersionStatsOutput,
): VersionComparisonOutput['fewer_errors'] {
  if (first.error_rate_high < second.error_rate_low) return 'first';
  if (second.error_rate_high < first.error_rate_low) return 'second';
  return 'inconclusive';
}
