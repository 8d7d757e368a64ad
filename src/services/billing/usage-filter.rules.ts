import { DAY_MS, dayStart } from '../../lib/clock.js';
import type { UsageFilterInput } from './billing.inputs.js';

/** Which events of an account are read. Absent members match every event. */
export interface UsageSelection {
  keyId?: string | undefined;
  /** The model that served the call. */
  model?: string | undefined;
  status?: 'success' | 'error' | undefined;
  /** Start of a UTC day, inclusive. */
  from?: Date | undefined;
  /** Start of a UTC day, exclusive. */
  until?: Date | undefined;
}

/** The selection that a filter means at `now` (milliseconds). */
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

/** Whether the selection matches every event. */
export const selectsAll = (selection: UsageSelection): boolean =>
  Object.values(selection).every((value) => value === undefined);
