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
import { loaderOf, windowLoaderOf } from './loader-of.js';

const NO_EVENTS: ConnectionPage<AlertEventOutput> = { edges: [], hasNextPage: false };
const NO_VERSIONS: ConnectionPage<PromptVersionOutput> = { edges: [], hasNextPage: false };
const NO_ACTIVATIONS: PromptActivationOutput[] = [];

/** The loaders of one operation: each relation is read in one statement, however many ask for it. */
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
        // One window for all: aliases may ask for several.
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
