import { modelPrice } from '../../db/seed.js';
import type { ServiceDeps } from '../deps.js';
import { estimateOf, type Here } from './estimate.rules.js';
import { LEGACY_PRICES, OWN_MODELS } from './legacy-prices.data.js';
import type { EstimateInput } from './migration.inputs.js';
import type { EstimateOutput } from './migration.outputs.js';

/** Compares the list prices of another provider with ours for the same usage. */
export function createMigrationService({ config }: Pick<ServiceDeps, 'config'>) {
  const here: Here = { baseUrl: config.publicBaseUrl, priceOf: modelPrice };
  return {
    /** Public. Stores nothing and makes no requests. */
    estimate: (input: EstimateInput): EstimateOutput => estimateOf(input, here),

    /** Data for the estimator page, which computes estimates in the browser. */
    basis: () => ({
      baseUrl: here.baseUrl,
      prices: OWN_MODELS.map((own) => [own, here.priceOf(own)] as const),
      known: Object.entries(LEGACY_PRICES).map(
        ([provider, prices]) => [provider, prices.map(({ name }) => name)] as const,
      ),
    }),
  };
}
