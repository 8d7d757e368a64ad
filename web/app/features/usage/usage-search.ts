import { isUsageDay } from '../../../../src/lib/usage-day';
import type { UsageFilterInput, UsageRowFragment } from '../../../generated/graphql';
import { DEFAULT_WINDOW, type WindowSearch, windowSearch } from '../analytics/window';

/** Search parameters of the usage page. */
export interface UsageSearch extends WindowSearch {
  key?: string;
  model?: string;
  status?: 'success' | 'error';
  /** One UTC day, `2026-11-21`, instead of the window. */
  day?: string;
  /** Cursors after which the page begins, or before which it ends; absent: the newest calls. */
  after?: string;
  before?: string;
  /** Request id of the opened call. */
  call?: string;
}

const TEXTS = ['key', 'model', 'after', 'before', 'call'] as const;

/** Reads the search parameters; drops invalid ones. */
export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const { status, day } = search;
  const texts = TEXTS.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? [[name, value]] : [];
  });
  return {
    ...windowSearch(search),
    ...Object.fromEntries(texts),
    ...((status === 'success' || status === 'error') && { status }),
    ...(typeof day === 'string' && isUsageDay(day) && { day }),
  };
}

const STATUSES = { success: 'SUCCESS', error: 'ERROR' } as const;

/** The filter for the API. */
export const filterOf = ({ key, model, status, window, day }: UsageSearch): UsageFilterInput => ({
  keyId: key ?? null,
  model: model ?? null,
  status: status ? STATUSES[status] : null,
  ...(day ? { day } : { windowDays: window ?? DEFAULT_WINDOW }),
});

/** Whether a new call matches the filter. */
export const belongs = (event: UsageRowFragment, { key, model, status, day }: UsageSearch): boolean =>
  (!key || event.keyId === key) &&
  (!model || event.modelPublicName === model) &&
  (!status || event.status === STATUSES[status]) &&
  (!day || event.createdAt.startsWith(day));

/** The URL that exports the filtered calls. */
export function exportHref({ key, model, status, window, day }: UsageSearch): string {
  const query = new URLSearchParams({
    ...(key && { key_id: key }),
    ...(model && { model }),
    ...(status && { status }),
    ...(day ? { day } : { window_days: String(window ?? DEFAULT_WINDOW) }),
  });
  return `/api/usage.csv?${query}`;
}
