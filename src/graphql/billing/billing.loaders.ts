import DataLoader from 'dataloader';
import type {
  LedgerEntryOutput,
  ModelOutput,
  PlanOutput,
  UsageItemOutput,
} from '../../services/billing/billing.outputs.js';
import { type Camel, camelCased } from '../case.js';
import type { LoaderContext } from '../loader-context.js';

/** Plans and models by name, and the usage event of a charge. */
export function billingLoaders({ services, service }: LoaderContext) {
  return {
    plans: new DataLoader<string, Camel<PlanOutput> | null>(async (names) => {
      const plans = new Map(
        (await services.billing.plans(service)).map((plan) => [plan.name, camelCased(plan)]),
      );
      return names.map((name) => plans.get(name) ?? null);
    }),
    models: new DataLoader<string, Camel<ModelOutput> | null>(async (names) => {
      const found = await services.billing.models(service);
      const models = new Map(found.map((model) => [model.model_public_name, camelCased(model)]));
      return names.map((name) => models.get(name) ?? null);
    }),
    usageOfCharges: new DataLoader<
      Pick<LedgerEntryOutput, 'event_id' | 'created_at'>,
      Camel<UsageItemOutput> | null,
      string | null
    >(
      async (charges) => {
        const found = await services.billing.usageOfCharges(service, charges);
        return charges.map(({ event_id }) => {
          const event = event_id === null ? undefined : found.get(event_id);
          return event ? camelCased(event) : null;
        });
      },
      { cacheKeyFn: ({ event_id }) => event_id },
    ),
  };
}
