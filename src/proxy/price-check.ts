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

const perMillion = (perToken: Money): Money => perToken * TOKENS_PER_PRICE;

/**
 * Prices stand in two places that must match: the routing file and the model table, with which the ledger charges.
 * Gives one line per deployment that differs or serves a model that the table doesn't know.
 */
export async function priceFaults(orm: MikroORM, deployments: readonly Deployment[]): Promise<string[]> {
  const { rows } = await sql<Priced>`
    select public_name as name, input_price_per_million_usd::text as input,
      output_price_per_million_usd::text as output from models`.execute(orm.em.fork().getKysely());
  const table = new Map(rows.map((row) => [row.name, row]));
  return deployments.flatMap(({ id, group, inputCost, outputCost }) => {
    const row = table.get(group);
    if (!row) return [`deployment ${id}: the model table has no ${group}`];
    const same =
      perMillion(inputCost) === parseMoney(row.input) && perMillion(outputCost) === parseMoney(row.output);
    if (same) return [];
    const told = `${formatMoney(perMillion(inputCost))} and $${formatMoney(perMillion(outputCost))}`;
    return [
      `deployment ${id}: ${group} costs $${told} per million tokens in the routing file, $${formatDecimal(row.input)} and $${formatDecimal(row.output)} in the model table`,
    ];
  });
}
