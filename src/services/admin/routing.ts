import type { EntityManager } from '@mikro-orm/postgresql';
import { request } from 'undici';
import { z } from 'zod';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import { decimalText } from '../../lib/money-input.js';
import { type DeploymentReport, readReports } from '../../router/deployment-reports.js';
import type { Routing } from '../../router/routing.js';
import type { ModelOutput } from '../billing/billing.outputs.js';
import type { RoutedModelOutput } from './admin.outputs.js';

const TIMEOUT_MS = 5_000;
const MS_PER_SECOND = 1_000;
const MILLION = 1_000_000n;
const NO_ANSWER =
  'The model proxy does not answer. Check that it runs, and that UPSTREAM_URL is its address.';

/** The response of the bundled proxy and of LiteLLM, which leaves some fields out. */
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
      last_failure: z.string().nullish(),
      parked_for_seconds: z.number().optional(),
      node_calls_in_flight: z.int().optional(),
    }),
  ),
});

type ReportedDeployment = z.output<typeof infoSchema>['data'][number];

/** A deployment, its prices per million tokens in the routing, and its health where that is known. */
export interface RoutedDeployment {
  model: string;
  id: string;
  fallbacks: readonly string[];
  /** Whether the routing has prices. */
  priced: boolean;
  /** Null also for a price with more digits than ours can have. */
  input: string | null;
  output: string | null;
  report: Partial<DeploymentReport>;
}

/** Reads the routing. @throws AppError `service_unavailable` */
export type AskRouting = (em: EntityManager) => Promise<RoutedDeployment[]>;

/** A deployment from a model proxy's response. */
export function routedOf(reported: ReportedDeployment): RoutedDeployment {
  const { status, parked_for_seconds: seconds = 0, model_info: info } = reported;
  return {
    model: reported.model_name,
    id: info.id,
    fallbacks: reported.fallbacks ?? [],
    priced: typeof info.input_cost_per_token === 'number' && typeof info.output_cost_per_token === 'number',
    input: perMillion(info.input_cost_per_token),
    output: perMillion(info.output_cost_per_token),
    report: {
      ...(status && { parkedForMs: status === 'parked' ? seconds * MS_PER_SECOND : 0 }),
      fails: reported.consecutive_failures,
      lastFailure: reported.last_failure,
      takesCalls: reported.takes_calls,
      calls: reported.node_calls_in_flight,
    },
  };
}

/** Reads the routing from a separate model proxy. */
export const routingOfProxy =
  (upstreamUrl: string, masterKey: string): AskRouting =>
  async () => {
    try {
      const { statusCode, body } = await request(`${upstreamUrl}/v1/model/info`, {
        headers: { authorization: `Bearer ${masterKey}` },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      if (statusCode !== 200) throw new Error(`the model proxy answered ${statusCode}`);
      return infoSchema.parse(await body.json()).data.map(routedOf);
    } catch (cause) {
      throw new AppError('service_unavailable', { message: NO_ANSWER, cause });
    }
  };

/** Reads the routing from the routing file and the deployment reports of all processes that route. */
export const routingOfFile =
  (routing: () => Pick<Routing, 'deployments' | 'settings'>): AskRouting =>
  async (em) => {
    const { deployments, settings } = routing();
    const reports = await readReports(em);
    return deployments.map(({ id, headerName, group, inputCost, outputCost }) => ({
      model: group,
      id,
      fallbacks: settings.fallbacks.get(group) ?? [],
      priced: true,
      input: formatMoney(inputCost * MILLION),
      output: formatMoney(outputCost * MILLION),
      report: reports.get(headerName) ?? {},
    }));
  };

/**
 * Dollars per million tokens from a JSON number of dollars per token; null for none, or for more digits than prices
 * have.
 */
function perMillion(cost: number | null | undefined): string | null {
  if (cost === null || cost === undefined || !(cost >= 0)) return null;
  try {
    return formatMoney(parseMoney(decimalText(cost)) * MILLION);
  } catch {
    return null;
  }
}

/** Routing by model, with the prices of the model table beside those of the routing. */
export function routingView(
  routed: readonly RoutedDeployment[],
  models: readonly ModelOutput[],
  now: number,
): RoutedModelOutput[] {
  const prices = new Map(models.map((model) => [model.model_public_name, model]));
  const groups = Map.groupBy(routed, ({ model }) => model);
  return [...groups].map(([name, members]) => ({
    model_public_name: name,
    fallbacks: [...members[0]!.fallbacks],
    deployments: members.map(({ id, priced, input, output, report }) => {
      const { parkedForMs, takesCalls, fails, lastFailure, calls } = report;
      const price = prices.get(name);
      return {
        id,
        status:
          parkedForMs === undefined ? null : parkedForMs > 0 ? ('parked' as const) : ('serving' as const),
        takes_calls: takesCalls ?? null,
        consecutive_failures: fails ?? null,
        last_failure: lastFailure ?? null,
        parked_until: parkedForMs ? formatTimestamp(now + parkedForMs) : null,
        parked_for_seconds: parkedForMs ? Math.ceil(parkedForMs / MS_PER_SECOND) : null,
        calls_in_flight: calls ?? null,
        input_price_per_million_usd: input,
        output_price_per_million_usd: output,
        price_matches: priced
          ? price?.input_price_per_million_usd === input && price.output_price_per_million_usd === output
          : null,
      };
    }),
  }));
}
