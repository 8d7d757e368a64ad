import { type RawBuilder, sql } from 'kysely';
import type { TimePosition } from '../lib/connection-input.js';

/** Whether a row stands behind a position in a list that is ordered by `created_at desc, id desc`. */
export function isAfter(alias: string, { createdUs, id }: TimePosition): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.created_at`)}, ${sql.ref(`${alias}.id`)})
    < (timestamptz 'epoch' + ${createdUs}::bigint * interval '1 microsecond', ${id}::uuid)`;
}
