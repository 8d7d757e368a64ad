import { DAY_MS, dayStart } from '../../lib/clock.js';
import type { UsageFilterInput } from './billing.inputs.js';

/** Which events of an account are read; an absent member doesn't narrow. */
export interface UsageSelection {
  keyId?: string | undefined;
  /** The one that served. */
  model?: string | undefined;
  status?: 'success' | 'error' | undefined;
  /** The first instant of a UTC day. */
  from?: Date | undefined;
}

/** What a filter means at a time (milliseconds). */
export function usageSelection(filter: UsageFilterInput, now: number): UsageSelection {
  const { window_days: days } = filter;
  return {
    keyId: filter.key_id ?? undefined,
    model: filter.model ?? undefined,
    status: filter.status ?? undefined,
    from: days ? new Date(dayStart(now) - (days - 1) * DAY_MS) : undefined,
  };
}
