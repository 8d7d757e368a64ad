import type { UsageFilterInput, UsageRowFragment } from '../../../generated/graphql';
import { DEFAULT_WINDOW, type WindowSearch, windowSearch } from '../analytics/window';

/** What of the usage list is shown, as it stands in the address. */
export interface UsageSearch extends WindowSearch {
  key?: string;
  model?: string;
  status?: 'success' | 'error';
  /** Where the page begins; absent: with the newest. */
  after?: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** From an address; whatever means nothing is left out. */
export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const key = text(search.key);
  const model = text(search.model);
  const after = text(search.after);
  const status = search.status === 'success' || search.status === 'error' ? search.status : undefined;
  return {
    ...windowSearch(search),
    ...(key && { key }),
    ...(model && { model }),
    ...(status && { status }),
    ...(after && { after }),
  };
}

const STATUSES = { success: 'SUCCESS', error: 'ERROR' } as const;

/** The same for the API. */
export const filterOf = ({ key, model, status, window }: UsageSearch): UsageFilterInput => ({
  keyId: key ?? null,
  model: model ?? null,
  status: status ? STATUSES[status] : null,
  windowDays: window ?? DEFAULT_WINDOW,
});

/** Whether a call that has just ended belongs to what is shown. */
export const belongs = (event: UsageRowFragment, { key, model, status }: UsageSearch): boolean =>
  (!key || event.keyId === key) &&
  (!model || event.modelPublicName === model) &&
  (!status || event.status === STATUSES[status]);

/** Address of the export of what is shown. */
export function exportHref({ key, model, status, window }: UsageSearch): string {
  const query = new URLSearchParams({
    ...(key && { key_id: key }),
    ...(model && { model }),
    ...(status && { status }),
    window_days: String(window ?? DEFAULT_WINDOW),
  });
  return `/api/usage.csv?${query}`;
}
