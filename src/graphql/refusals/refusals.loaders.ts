import DataLoader from 'dataloader';
import type { AnalyticsInput } from '../../services/analytics/analytics.inputs.js';
import type { RefusedCallsOutput } from '../../services/refusals/refusals.outputs.js';
import type { LoaderContext } from '../loader-context.js';

interface KeyWindow {
  id: string;
  window: AnalyticsInput;
}

const nameOf = ({ window_days, ends_days_ago }: AnalyticsInput): string =>
  JSON.stringify([window_days, ends_days_ago]);

/** Refused calls of several keys; null for one that is gone. */
export function refusalsLoaders({ services, service }: LoaderContext) {
  return {
    keyRefusals: new DataLoader<KeyWindow, RefusedCallsOutput | null, string>(
      async (wanted) => {
        const found = new Map<string, RefusedCallsOutput>();
        // One reading for each window that aliases ask for.
        for (const [name, list] of Map.groupBy(wanted, ({ window }) => nameOf(window))) {
          const ids = list.map(({ id }) => id);
          const byKey = await services.refusals.ofKeys(service, { ...list[0]!.window, ids });
          for (const [id, output] of byKey) found.set(`${id} ${name}`, output);
        }
        return wanted.map(({ id, window }) => found.get(`${id} ${nameOf(window)}`) ?? null);
      },
      { cacheKeyFn: ({ id, window }) => `${id} ${nameOf(window)}` },
    ),
  };
}
