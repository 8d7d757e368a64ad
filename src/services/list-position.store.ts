import { type RawBuilder, sql } from 'kysely';
import type { TimePosition } from '../lib/connection-input.js';

/** Microseconds as a time. An expression that PostgreSQL computes when it plans, and a float that has all digits. */
export const timeOfUs = (createdUs: string): RawBuilder<Date> =>
  sql`to_timestamp(${createdUs}::float8 / 1000000)`;

/** The first condition chooses the partitions of a partitioned table, which a comparison of rows doesn't. */
const beyond = (alias: string, operator: '<' | '>', { createdUs, id }: TimePosition): RawBuilder<boolean> => {
  const [createdAt, ofRow] = [sql.ref(`${alias}.created_at`), sql.ref(`${alias}.id`)];
  const time = timeOfUs(createdUs);
  return sql<boolean>`${createdAt} ${sql.raw(`${operator}=`)} ${time}
    and (${createdAt}, ${ofRow}) ${sql.raw(operator)} (${time}, ${id}::uuid)`;
};

/** Condition for rows after a position in a list ordered by `created_at desc, id desc`. */
export const isAfter = (alias: string, at: TimePosition): RawBuilder<boolean> => beyond(alias, '<', at);

/** The same for rows before a position. */
export const isBefore = (alias: string, at: TimePosition): RawBuilder<boolean> => beyond(alias, '>', at);
