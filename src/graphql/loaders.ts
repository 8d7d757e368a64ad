import DataLoader from 'dataloader';
import type {
  ConnectionPage,
  SequenceConnectionInput,
  TimeConnectionInput,
} from '../lib/connection-input.js';
import type { AlertEventOutput, AlertOutput } from '../services/alerts/alerts.outputs.js';
import type { AnalyticsInput } from '../services/analytics/analytics.inputs.js';
import type { LedgerEntryOutput, UsageItemOutput } from '../services/billing/billing.outputs.js';
import type { KeyDayOutput } from '../services/keys/keys.outputs.js';
import type { PromptActivationOutput, PromptVersionOutput } from '../services/prompts/prompts.outputs.js';
import { type Camel, camelCased } from './case.js';
import type { LoaderContext } from './loader-context.js';

const NO_EVENTS: ConnectionPage<AlertEventOutput> = { edges: [], hasNextPage: false };
const NO_VERSIONS: ConnectionPage<PromptVersionOutput> = { edges: [], hasNextPage: false };
const NO_ACTIVATIONS: PromptActivationOutput[] = [];

/** The loaders of one operation: each relation is read in one statement for all objects that need it. */
export function createLoaders({ services, service }: LoaderContext) {
  const { accounts, alerts, analytics, billing, keys, prompts, refusals, widgets } = services;
  return {
    users: loaderOf(
      (ids) => accounts.findUsers(service, ids),
      ({ id }) => id,
    ),
    keys: loaderOf(
      (ids) => keys.findMany(service, ids),
      ({ id }) => id,
    ),
    widgets: loaderOf(
      (ids) => widgets.findMany(service, ids),
      ({ id }) => id,
    ),
    prompts: loaderOf(
      (ids) => prompts.findMany(service, ids),
      ({ id }) => id,
    ),
    versionsOfPrompts: windowLoaderOf(
      (ids, page: SequenceConnectionInput) => prompts.versionsPages(service, { ...page, ids }),
      NO_VERSIONS,
    ),
    activationsOfPrompts: windowLoaderOf(
      (ids, page: { limit: number }) => prompts.lastActivations(service, { ...page, ids }),
      NO_ACTIVATIONS,
    ),
    plans: loaderOf(
      () => billing.plans(service),
      ({ name }) => name,
    ),
    models: loaderOf(
      () => billing.models(service),
      ({ model_public_name }) => model_public_name,
    ),
    alertsOfKeys: new DataLoader<string, Camel<AlertOutput>[]>(async (keyIds) => {
      const found = Map.groupBy(await alerts.listMany(service, keyIds), (alert) => alert.key_id);
      return keyIds.map((id) => camelCased(found.get(id) ?? []));
    }),
    alertEventsOfKeys: windowLoaderOf(
      (keyIds, page: TimeConnectionInput) => alerts.keyEventsPages(service, { ...page, keyIds }),
      NO_EVENTS,
    ),
    keyAnalytics: windowLoaderOf(
      (ids, window: AnalyticsInput) => analytics.ofKeys(service, { ...window, ids }),
      null,
    ),
    keyRefusals: windowLoaderOf(
      (ids, window: AnalyticsInput) => refusals.ofKeys(service, { ...window, ids }),
      null,
    ),
    keyDays: new DataLoader<{ id: string; days: number }, Camel<KeyDayOutput>[], string>(
      async (wanted) => {
        // One window for all, since aliases may use several.
        const days = Math.max(...wanted.map((one) => one.days));
        const byKey = await keys.spendByDay(service, { ids: wanted.map(({ id }) => id), days });
        return wanted.map((one) => camelCased(byKey.get(one.id) ?? []).slice(-one.days));
      },
      { cacheKeyFn: ({ id, days }) => `${id} ${days}` },
    ),
    usageOfCharges: new DataLoader<
      Pick<LedgerEntryOutput, 'event_id' | 'created_at'>,
      Camel<UsageItemOutput> | null,
      string | null
    >(
      async (charges) => {
        const found = await billing.usageOfCharges(service, charges);
        return charges.map(({ event_id }) => {
          const event = event_id === null ? undefined : found.get(event_id);
          return event ? camelCased(event) : null;
        });
      },
      { cacheKeyFn: ({ event_id }) => event_id },
    ),
  };
}

export type Loaders = ReturnType<typeof createLoaders>;

/** Loads objects by id; null for an object that doesn't exist or isn't the viewer's. */
const loaderOf = <T>(
  read: (ids: readonly string[]) => Promise<readonly T[]>,
  idOf: (found: T) => string,
): DataLoader<string, Camel<T> | null> =>
  new DataLoader(async (ids) => {
    const found = new Map((await read(ids)).map((one) => [idOf(one), camelCased(one)]));
    return ids.map((id) => found.get(id) ?? null);
  });

/** Loads what objects have in a window or on a page: one read per window that aliases use. */
const windowLoaderOf = <Window extends object, T, None>(
  read: (ids: readonly string[], window: Window) => Promise<Iterable<readonly [string | null, T]>>,
  none: None,
): DataLoader<{ id: string; window: Window }, T | None, string> =>
  new DataLoader<{ id: string; window: Window }, T | None, string>(
    async (wanted) => {
      const found = new Map<string, T>();
      for (const list of Map.groupBy(wanted, ({ window }) => JSON.stringify(window)).values()) {
        const { window } = list[0]!;
        const ids = list.map(({ id }) => id);
        for (const [id, one] of await read(ids, window)) found.set(nameOf({ id: `${id}`, window }), one);
      }
      return wanted.map((one) => found.get(nameOf(one)) ?? none);
    },
    { cacheKeyFn: nameOf },
  );

const nameOf = ({ id, window }: { id: string; window: object }): string => `${id} ${JSON.stringify(window)}`;
