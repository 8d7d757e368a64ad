import DataLoader from 'dataloader';
import type { ConnectionPage, TimeConnectionInput } from '../../lib/connection-input.js';
import type { AlertEventOutput, AlertOutput } from '../../services/alerts/alerts.outputs.js';
import { type Camel, camelCased } from '../case.js';
import type { LoaderContext } from '../loader-context.js';

interface KeyEvents {
  keyId: string;
  page: TimeConnectionInput;
}

const nameOf = ({ first, after }: TimeConnectionInput): string => JSON.stringify([first, after]);

/** Subscriptions and events of several keys at once. */
export function alertsLoaders({ services, service }: LoaderContext) {
  return {
    alertsOfKeys: new DataLoader<string, Camel<AlertOutput>[]>(async (keyIds) => {
      const found = Map.groupBy(await services.alerts.listMany(service, keyIds), (alert) => alert.key_id);
      return keyIds.map((id) => camelCased(found.get(id) ?? []));
    }),
    alertEventsOfKeys: new DataLoader<KeyEvents, ConnectionPage<AlertEventOutput>, string>(
      async (wanted) => {
        const pages = new Map<string, ConnectionPage<AlertEventOutput>>();
        // One statement for each page that aliases ask for.
        for (const [name, list] of Map.groupBy(wanted, ({ page }) => nameOf(page))) {
          const keyIds = list.map(({ keyId }) => keyId);
          const found = await services.alerts.keyEventsPages(service, { ...list[0]!.page, keyIds });
          for (const [keyId, page] of found) pages.set(`${keyId} ${name}`, page);
        }
        return wanted.map(
          ({ keyId, page }) => pages.get(`${keyId} ${nameOf(page)}`) ?? { edges: [], hasNextPage: false },
        );
      },
      { cacheKeyFn: ({ keyId, page }) => `${keyId} ${nameOf(page)}` },
    ),
  };
}
