import { request } from 'undici';
import { z } from 'zod';
import type { Config } from '../../config.js';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import { decimalText } from '../../lib/money-input.js';
import type { ModelOutput } from '../billing/billing.outputs.js';
import type { RoutedModelOutput } from './admin.outputs.js';

const TIMEOUT_MS = 5_000;
const MS_PER_SECOND = 1_000;
const MILLION = 1_000_000n;
const NO_ANSWER =
  'The model proxy does not answer. Check that it runs, and that UPSTREAM_URL or PROXY_PORT is its address.';

/** As the bundled proxy and LiteLLM answer; LiteLLM says less. */
const infoSchema = z.object({
  data: z.array(
    z.object({
      model_name: z.string(),
      model_info: z.object({
        id: z.string(),
        input_cost_per_token: z.number().nullish(),
        output_cost_per_token: z.number().nullish(),
      }),
      fallbacks: z.array(z.string()).optional(),
      status: z.enum(['serving', 'parked']).optional(),
      takes_calls: z.enum(['yes', 'if_no_other_can', 'no']).optional(),
      consecutive_failures: z.int().optional(),
      parked_for_seconds: z.number().optional(),
      node_calls_in_flight: z.int().optional(),
    }),
  ),
});
type Told = z.output<typeof infoSchema>['data'][number];

/** What the model proxy says of its deployments. @throws AppError `service_unavailable` */
export async function askProxy({
  upstreamUrl,
  upstreamMasterKey,
}: Pick<Config, 'upstreamUrl' | 'upstreamMasterKey'>): Promise<Told[]> {
  try {
    const { statusCode, body } = await request(`${upstreamUrl}/v1/model/info`, {
      headers: { authorization: `Bearer ${upstreamMasterKey}` },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    if (statusCode !== 200) throw new Error(`the model proxy answered ${statusCode}`);
    return infoSchema.parse(await body.json()).data;
  } catch (cause) {
    throw new AppError('service_unavailable', { message: NO_ANSWER, cause });
  }
}

/** Dollars per million tokens, of a JSON number of dollars per token; null for none, or one that is finer than prices are. */
function perMillion(cost: number | null | undefined): string | null {
  if (cost === null || cost === undefined || !(cost >= 0)) return null;
  try {
    return formatMoney(parseMoney(decimalText(cost)) * MILLION);
  } catch {
    return null;
  }
}

/** Routing by model, with the prices of the model table beside those of the file. */
export function routingView(
  told: readonly Told[],
  models: readonly ModelOutput[],
  now: number,
): RoutedModelOutput[] {
  const prices = new Map(models.map((model) => [model.model_public_name, model]));
  const groups = Map.groupBy(told, ({ model_name }) => model_name);
  return [...groups].map(([name, members]) => ({
    model_public_name: name,
    fallbacks: members[0]!.fallbacks ?? [],
    deployments: members.map((one) => {
      const input = perMillion(one.model_info.input_cost_per_token);
      const output = perMillion(one.model_info.output_cost_per_token);
      const price = prices.get(name);
      return {
        id: one.model_info.id,
        status: one.status ?? null,
        takes_calls: one.takes_calls ?? null,
        consecutive_failures: one.consecutive_failures ?? null,
        parked_until: one.parked_for_seconds
          ? formatTimestamp(now + one.parked_for_seconds * MS_PER_SECOND)
          : null,
        parked_for_seconds: one.parked_for_seconds || null,
        calls_in_flight: one.node_calls_in_flight ?? null,
        input_price_per_million_usd: input,
        output_price_per_million_usd: output,
        price_matches:
          typeof one.model_info.input_cost_per_token !== 'number' ||
          typeof one.model_info.output_cost_per_token !== 'number'
            ? null
            : price?.input_price_per_million_usd === input && price.output_price_per_million_usd === output,
      };
    }),
  }));
}
