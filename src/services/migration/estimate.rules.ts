import { formatMoney, type Money, pricePerToken } from '../../lib/money.js';
import { findLegacyModel, type LegacyModel, sourceOf } from './legacy-models.rules.js';
import { type OwnModel, PROVIDER_NAMES } from './legacy-prices.data.js';
import type { EstimateInput } from './migration.inputs.js';
import type { EstimateOutput } from './migration.outputs.js';
import { codeSnippets } from './snippets.rules.js';

/** Prices of one of our models in dollars per million tokens. */
export interface OwnPrice {
  input: string;
  output: string;
}

/** What an estimate needs to know about this installation. */
export interface Here {
  /** Public URL, without a trailing slash. */
  baseUrl: string;
  priceOf(own: OwnModel): OwnPrice & { publicName: string };
}

/** Costs of both sides in units of 1e-12 dollars. */
interface Costs {
  legacy: Money;
  own: Money;
}

/** Exact cost of 30 days on both sides. Cached input has a separate price only if the provider has one. */
export function costsOf(input: EstimateInput, { price }: LegacyModel, own: OwnPrice): Costs {
  const inputs = BigInt(input.input_tokens_30d);
  const cached = BigInt(input.cached_input_tokens_30d ?? 0);
  const outputs = BigInt(input.output_tokens_30d);
  const full = pricePerToken(price.input);
  return {
    legacy:
      (inputs - cached) * full +
      cached * (price.cached === undefined ? full : pricePerToken(price.cached)) +
      outputs * pricePerToken(price.output),
    own: inputs * pricePerToken(own.input) + outputs * pricePerToken(own.output),
  };
}

/** `amount` × `times` ÷ `by`, halves away from zero. */
export function scaled(amount: bigint, times: bigint, by: bigint): bigint {
  const doubled = (amount < 0n ? -amount : amount) * times * 2n + by;
  const rounded = doubled / (by * 2n);
  return amount < 0n ? -rounded : rounded;
}

/** Savings in percent of the legacy cost, with two decimals. */
export const savingsPct = ({ legacy, own }: Costs): number =>
  legacy === 0n ? 0 : Number(scaled(legacy - own, 10_000n, legacy)) / 100;

/** Tokenizers split the same text into up to a third fewer or more tokens. */
const band = (own: Money): { low: string; high: string } => ({
  low: formatMoney(scaled(own, 2n, 3n)),
  high: formatMoney(scaled(own, 4n, 3n)),
});

/** Reasons why the comparison is less certain. */
function warningsOf(input: EstimateInput, { price, approximate, elsewhere }: LegacyModel): string[] {
  const warnings = ['Tokenizers differ: the same text may take up to a third fewer or more tokens here.'];
  const unknown = elsewhere
    ? `"${input.legacy_model}" is a model of ${PROVIDER_NAMES[elsewhere]}: choose that provider for its price.`
    : `We don't know "${input.legacy_model}".`;
  if (approximate) warnings.unshift(`${unknown} The price is that of ${price.name}, which is most like it.`);
  if (price.cached !== undefined && input.cached_input_tokens_30d === undefined)
    warnings.push(
      'Cached input costs less at your provider. Unless you give its tokens (cached_input_tokens_30d), your cost today may be lower than shown.',
    );
  return warnings;
}

/**
 * Cost of 30 days of usage at a provider and here. Depends on nothing but the input, so a browser can compute it too.
 */
export function estimateOf(input: EstimateInput, { baseUrl, priceOf }: Here): EstimateOutput {
  const found = findLegacyModel(input.legacy_provider, input.legacy_model);
  const own = priceOf(found.price.own);
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
    code_snippets: codeSnippets({ baseUrl, model: own.publicName }, found.price.own === 'embed'),
  };
}
