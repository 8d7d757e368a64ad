import { isUsageDay } from '../../../../src/lib/usage-day';
import type { UsageFilterInput, UsageRowFragment } from '../../../generated/graphql';
import { DEFAULT_WINDOW, type WindowSearch, windowSearch } from '../analytics/window';

/** What of the usage list is shown, as it stands in the address. */
export interface UsageSearch extends WindowSearch {
  key?: string;
  model?: string;
  status?: 'success' | 'error';
  /** One UTC day, `2026-11-21`, instead of the window. */
  day?: string;
  /** Where the page begins, or ends; absent: with the newest. */
  after?: string;
  before?: string;
  /** Request id of the call that is looked at. */
  call?: string;
}

const TEXTS = ['key', 'model', 'after', 'before', 'call'] as const;

/** From an address; whatever means nothing is left out. */
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

/** The same for the API. */
export const filterOf = ({ key, model, status, window, day }: UsageSearch): UsageFilterInput => ({
  keyId: key ?? null,
  model: model ?? null,
  status: status ? STATUSES[status] : null,
  ...(day ? { day } : { windowDays: window ?? DEFAULT_WINDOW }),
});

/** Whether a call that has just ended belongs to what is shown. */
export const belongs = (event: UsageRowFragment, { key, model, status, day }: UsageSearch): boolean =>
  (!key || event.keyId === key) &&
  (!model || event.modelPublicName === model) &&
  (!status || event.status === STATUSES[status]) &&
  (!day || event.createdAt.startsWith(day));

/** Address of the export of what is shown. */
export function exportHref({ key, model, status, window, day }: UsageSearch): string {
  const query = new URLSearchParams({
    ...(key && { key_id: key }),
    ...(model && { model }),
    ...(status && { status }),
    ...(day ? { day } : { window_days: String(window ?? DEFAULT_WINDOW) }),
  });
  return `/api/usage.csv?${query}`;
}
