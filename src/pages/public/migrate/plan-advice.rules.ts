import type { PlanOutput } from '../../../services/billing/billing.outputs.js';

/** What the advice reads of a plan. */
export type PlanLimits = Pick<
  PlanOutput,
  'name' | 'monthly_price_usd' | 'allowed_models' | 'requests_per_minute'
>;

/**
 * The cheapest plan that allows all of the models and as many requests a minute.
 * @param plans The cheapest first.
 * @returns undefined where no plan allows so many.
 */
export const planFor = (
  plans: readonly PlanLimits[],
  models: readonly string[],
  perMinute: number,
): PlanLimits | undefined =>
  plans.find(
    (plan) =>
      plan.requests_per_minute >= perMinute && models.every((model) => plan.allowed_models.includes(model)),
  );
