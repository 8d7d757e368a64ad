import DataLoader from 'dataloader';
import type { KeyDayOutput, KeyOutput } from '../../services/keys/keys.outputs.js';
import { type Camel, camelCased } from '../case.js';
import type { LoaderContext } from '../loader-context.js';

interface KeyDays {
  id: string;
  days: number;
}

/** API keys of the viewer by id (null for one that is gone), and their spend per day. */
export function keysLoaders({ services, service }: LoaderContext) {
  return {
    keys: new DataLoader<string, Camel<KeyOutput> | null>(async (ids) => {
      const found = await services.keys.findMany(service, ids);
      const byId = new Map(found.map((key) => [key.id, camelCased(key)]));
      return ids.map((id) => byId.get(id) ?? null);
    }),
    keyDays: new DataLoader<KeyDays, Camel<KeyDayOutput>[], string>(
      async (wanted) => {
        // One window for all: aliases may ask for several.
        const days = Math.max(...wanted.map((one) => one.days));
        const byKey = await services.keys.spendByDay(service, { ids: wanted.map(({ id }) => id), days });
        return wanted.map((one) => camelCased(byKey.get(one.id) ?? []).slice(-one.days));
      },
      { cacheKeyFn: ({ id, days }) => `${id} ${days}` },
    ),
  };
}
