import { formatMoney, type Money, pricePerToken } from '../../lib/money.js';
import type { LegacyModel } from './legacy-models.rules.js';
import type { EstimateInput } from './migration.inputs.js';

/** Prices of a model of ours in dollars per million tokens. */
export interface OwnPrice {
  input: string;
  output: string;
}

/** Costs of both sides in units of 1e-12 dollars. */
interface Costs {
  legacy: Money;
  own: Money;
}

/** Cost of 30 days on both sides, exact. Cached input has a price of its own only where the provider has one. */
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

/** Part of the legacy cost that is saved, in percent with two decimals. */
export const savingsPct = ({ legacy, own }: Costs): number =>
  legacy === 0n ? 0 : Number(scaled(legacy - own, 10_000n, legacy)) / 100;

/** Tokenizers cut the same text into up to a third fewer or more tokens. */
export const band = (own: Money): { low: string; high: string } => ({
  low: formatMoney(scaled(own, 2n, 3n)),
  high: formatMoney(scaled(own, 4n, 3n)),
});

/** What makes the comparison less certain. */
export function warningsOf(input: EstimateInput, { price, approximate }: LegacyModel): string[] {
  const warnings = ['Tokenizers differ: the same text may take up to a third fewer or more tokens here.'];
  if (approximate)
    warnings.unshift(
      `We don't know "${input.legacy_model}". The price is that of ${price.name}, which is most like it.`,
    );
  if (price.cached !== undefined && input.cached_input_tokens_30d === undefined)
    warnings.push(
      'Cached input costs less at your provider. Give cached_input_tokens_30d, or your cost today is lower than shown.',
    );
  return warnings;
}
