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
  /** The first instant that is no longer meant, of a UTC day too. */
  until?: Date | undefined;
}

/** What a filter means at a time (milliseconds). */
export function usageSelection(filter: UsageFilterInput, now: number): UsageSelection {
  const { window_days: days, day } = filter;
  const dayMs = day ? Date.parse(day) : undefined;
  const windowMs = days ? dayStart(now) - (days - 1) * DAY_MS : undefined;
  const fromMs = dayMs === undefined ? windowMs : Math.max(dayMs, windowMs ?? dayMs);
  return {
    keyId: filter.key_id ?? undefined,
    model: filter.model ?? undefined,
    status: filter.status ?? undefined,
    from: fromMs === undefined ? undefined : new Date(fromMs),
    until: dayMs === undefined ? undefined : new Date(dayMs + DAY_MS),
  };
}

/** Whether nothing narrows what is read. */
export const selectsAll = (selection: UsageSelection): boolean =>
  Object.values(selection).every((value) => value === undefined);
