import type { PlanOutput } from '../../../services/billing/billing.outputs.js';

/** The fields of a plan that the advice uses. */
export type PlanLimits = Pick<
  PlanOutput,
  'name' | 'monthly_price_usd' | 'allowed_models' | 'requests_per_minute'
>;

/**
 * The cheapest plan that allows all of the models and this many requests a minute.
 * @param plans Cheapest first.
 * @returns undefined if no plan allows that many.
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
