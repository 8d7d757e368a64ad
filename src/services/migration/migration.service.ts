import { modelPrice } from '../../db/seed.js';
import { formatMoney } from '../../lib/money.js';
import type { ServiceDeps } from '../deps.js';
import { band, costsOf, savingsPct, warningsOf } from './estimate.rules.js';
import { findLegacyModel, sourceOf } from './legacy-models.rules.js';
import type { EstimateInput } from './migration.inputs.js';
import type { EstimateOutput } from './migration.outputs.js';
import { codeSnippets } from './snippets.rules.js';

/** Compares what another provider costs with what the same usage costs here. Both sides are list prices (SPEC section 2). */
export function createMigrationService({ config }: Pick<ServiceDeps, 'config'>) {
  return {
    /** Public. Nothing is stored, and nobody else is asked. */
    estimate(input: EstimateInput): EstimateOutput {
      const found = findLegacyModel(input.legacy_provider, input.legacy_model);
      const own = modelPrice(found.price.own);
      const costs = costsOf(input, found, own);
      const { low, high } = band(costs.own);
      const source = sourceOf(found.provider);
      return {
        recommended_pr_model: own.publicName,
        legacy_cost_usd_30d: formatMoney(costs.legacy),
        pr_cost_usd_30d: formatMoney(costs.own),
        pr_cost_low_usd_30d: low,
        pr_cost_high_usd_30d: high,
        monthly_savings_usd: formatMoney(costs.legacy - costs.own),
        savings_pct: savingsPct(costs),
        approximate: found.approximate,
        priced_as: found.price.name,
        price_source: source.url,
        price_read_on: source.readOn,
        warnings: warningsOf(input, found),
        code_snippets: codeSnippets(
          { baseUrl: config.publicBaseUrl, model: own.publicName },
          found.price.own === 'embed',
        ),
      };
    },
  };
}
