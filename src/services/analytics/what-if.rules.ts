import { formatMoney, parseMoney, pricePerToken } from '../../lib/money.js';
import type { Endpoint } from '../../metering/usage-record.js';
import type { WhatIfOutput } from './what-if.outputs.js';
import type { ChargedCalls } from './what-if.store.js';

/** Public name, endpoint and prices of a model. */
export interface PricedModel {
  publicName: string;
  endpoint: Endpoint;
  /** Dollars per million tokens. */
  inputPrice: string;
  outputPrice: string;
}

/** The cost of the calls of the model's own kind at its price, to 1e-12 dollars. */
export function priceOn(
  model: PricedModel,
  windowDays: number,
  calls: readonly ChargedCalls[],
): WhatIfOutput {
  const sums = { requests: 0, input: 0n, output: 0n, actual: 0n };
  for (const { endpoint, requests, input_tokens, output_tokens, cost } of calls) {
    if (endpoint !== model.endpoint) continue;
    sums.requests += requests;
    sums.input += BigInt(input_tokens);
    sums.output += BigInt(output_tokens);
    sums.actual += parseMoney(cost);
  }
  const estimated =
    sums.input * pricePerToken(model.inputPrice) + sums.output * pricePerToken(model.outputPrice);
  return {
    window_days: windowDays,
    model_public_name: model.publicName,
    requests: sums.requests,
    input_tokens: Number(sums.input),
    output_tokens: Number(sums.output),
    actual_cost_usd: formatMoney(sums.actual),
    estimated_cost_usd: formatMoney(estimated),
    difference_usd: formatMoney(estimated - sums.actual),
  };
}
