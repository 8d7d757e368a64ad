import { escaped } from '../../lib/html.js';
import type { BillingConfigOutput, ModelOutput, PlanOutput } from '../../services/billing/billing.outputs.js';
import { formatInteger, listing, modelLink, money } from './html.js';

/** Models and plans as shown on pages. */
export interface PublicCatalog {
  models: readonly ModelOutput[];
  plans: readonly PlanOutput[];
  /** Public names of the models that the bundled simulator answers for. */
  simulated: readonly string[];
  /** How credit is added. */
  topUp: BillingConfigOutput['provider'];
}

/** Models with their prices per million tokens. */
export const priceTable = (models: readonly ModelOutput[]): string =>
  listing(
    'Prices per million tokens',
    [
      { head: 'Model' },
      { head: 'Input, per 1M tokens', figures: true },
      { head: 'Output, per 1M tokens', figures: true },
      { head: 'Context, tokens', figures: true },
      { head: 'Family', figures: true },
    ],
    models.map((model) => [
      modelLink(model.model_public_name),
      money(model.input_price_per_million_usd),
      model.family === 'embedding' ? '–' : money(model.output_price_per_million_usd),
      formatInteger(model.context_window),
      escaped(model.family),
    ]),
  );

const shortName = (publicName: string): string => publicName.replace(/^gateway\//, '');

/** Plans with their limits. */
export const planTable = ({ plans, models }: PublicCatalog): string =>
  listing(
    'Plans',
    [
      { head: 'Plan' },
      { head: 'Per month', figures: true },
      { head: 'Credit included', figures: true },
      { head: 'Requests per minute', figures: true },
      { head: 'Models' },
    ],
    plans.map((plan) => [
      escaped(plan.name),
      money(plan.monthly_price_usd),
      money(plan.included_credits_usd),
      formatInteger(plan.requests_per_minute),
      plan.allowed_models.length === models.length
        ? 'all'
        : escaped(plan.allowed_models.map(shortName).join(', ')),
    ]),
  );

/** The lowest price of a million chat tokens. */
export function lowestPrice({ models }: PublicCatalog): string {
  const prices = models
    .filter(({ family }) => family !== 'embedding')
    .map((model) => model.input_price_per_million_usd);
  return prices.reduce((low, price) => (Number(price) < Number(low) ? price : low), prices[0] ?? '0');
}

/** The plan of new accounts. */
export const starterPlan = ({ plans }: PublicCatalog): PlanOutput | undefined =>
  plans.find((plan) => Number(plan.monthly_price_usd) === 0);
