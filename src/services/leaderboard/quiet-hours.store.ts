import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { dayStart } from '../../lib/clock.js';
import { type QuietHour, type WithheldHours, withheldHours } from './quiet-hours.rules.js';

/** Hours whose figures are public. */
export interface CountedHours {
  /** First hour. */
  from: Date;
  withheld: WithheldHours;
}

/** A window of public figures. */
interface AskedHours {
  /** First hour. */
  from: Date;
  /** The hour after the last one; without it the window is open-ended. */
  until?: Date;
  leastAccounts: number;
}

/**
 * Reads public figures without the hours that they leave out (`quiet-hours.rules.ts`), on one snapshot: otherwise an
 * hour rolled up in between would count before it is known to be quiet, and the next response without it would reveal
 * one account's figures.
 */
export function readPublic<T>(
  em: EntityManager,
  asked: AskedHours,
  read: (em: EntityManager, counted: CountedHours) => Promise<T>,
): Promise<T> {
  return em
    .fork()
    .transactional(
      async (own) => read(own, { from: asked.from, withheld: await readWithheldHours(own, asked) }),
      { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
    );
}

async function readWithheldHours(
  em: EntityManager,
  { from, until, leastAccounts }: AskedHours,
): Promise<WithheldHours> {
  // An hour with calls has at least one account.
  if (leastAccounts <= 1) return [];
  const since = new Date(dayStart(from.getTime()));
  const { rows } = await sql<QuietHour>`
    select model, (extract(epoch from hour) * 1000)::float8 as hour_ms, array_agg(account_id::text) as accounts
    from model_account_hours
    where hour >= ${since.toISOString()} ${until ? sql`and hour < ${until.toISOString()}` : sql``}
    group by model, hour having count(*) < ${leastAccounts}`.execute(em.getKysely());
  return withheldHours(rows, leastAccounts, from.getTime());
}

/** Condition on a table with `model` and `hour`: the hour isn't left out. */
export function isCounted(table: string, withheld: WithheldHours): RawBuilder<unknown> {
  if (withheld.length === 0) return sql`true`;
  const models = withheld.map(({ model }) => model);
  const hours = withheld.map(({ hour_ms }) => new Date(hour_ms).toISOString());
  return sql`not exists (
    select from unnest(${models}::text[], ${hours}::timestamptz[]) as withheld (model, hour)
    where withheld.model = ${sql.ref(`${table}.model`)} and withheld.hour = ${sql.ref(`${table}.hour`)})`;
}
