import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatDecimal, formatMoney, type Money, parseMoney } from '../lib/money.js';
import type { Deployment } from './routing.js';

const TOKENS_PER_PRICE = 1_000_000n;

interface Priced {
  name: string;
  input: string;
  output: string;
}

/** The fields of a deployment that a price check needs. */
export type PricedDeployment = Pick<Deployment, 'id' | 'group' | 'inputCost' | 'outputCost'>;

/** Whether a deployment's price matches the model table. */
export interface PriceFinding {
  deployment: PricedDeployment;
  /** Undefined if it matches. */
  fault: string | undefined;
}

const perMillion = (perToken: Money): Money => perToken * TOKENS_PER_PRICE;

async function readPrices(orm: MikroORM): Promise<Map<string, Priced>> {
  const { rows } = await sql<Priced>`
    select public_name as name, input_price_per_million_usd::text as input,
      output_price_per_million_usd::text as output from models order by position`.execute(
    orm.em.fork().getKysely(),
  );
  return new Map(rows.map((row) => [row.name, row]));
}

function faultOf({ id, group, inputCost, outputCost }: PricedDeployment, row: Priced | undefined) {
  if (!row) return `deployment ${id}: the model table has no ${group}`;
  const same =
    perMillion(inputCost) === parseMoney(row.input) && perMillion(outputCost) === parseMoney(row.output);
  if (same) return undefined;
  const ours = `${formatMoney(perMillion(inputCost))} and $${formatMoney(perMillion(outputCost))}`;
  return `deployment ${id}: ${group} costs $${ours} per million tokens in the routing, $${formatDecimal(row.input)} and $${formatDecimal(row.output)} in the model table`;
}

/**
 * Compares each deployment's price with the model table, by which the ledger charges: the two must match. Also lists the models of
 * the table that no deployment serves.
 */
export async function comparePrices(
  orm: MikroORM,
  deployments: readonly PricedDeployment[],
): Promise<{ findings: PriceFinding[]; unserved: string[] }> {
  const table = await readPrices(orm);
  const served = new Set(deployments.map(({ group }) => group));
  return {
    findings: deployments.map((deployment) => ({
      deployment,
      fault: faultOf(deployment, table.get(deployment.group)),
    })),
    unserved: [...table.keys()].filter((name) => !served.has(name)),
  };
}

/** The fault of a model that customers see and whose calls get 503. */
export const unservedFault = (name: string): string => `${name}: no deployment serves it`;

/** One line per deployment with another price or an unknown model, and per model without a deployment. */
export async function routingFaults(orm: MikroORM, deployments: readonly Deployment[]): Promise<string[]> {
  const { findings, unserved } = await comparePrices(orm, deployments);
  return [...findings.flatMap(({ fault }) => fault ?? []), ...unserved.map(unservedFault)];
}
