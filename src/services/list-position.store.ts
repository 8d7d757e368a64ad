import { type RawBuilder, sql } from 'kysely';
import type { TimePosition } from '../lib/connection-input.js';

const position = ({ createdUs, id }: TimePosition): RawBuilder<unknown> =>
  sql`(timestamptz 'epoch' + ${createdUs}::bigint * interval '1 microsecond', ${id}::uuid)`;

/** Whether a row stands behind a position in a list that is ordered by `created_at desc, id desc`. */
export function isAfter(alias: string, at: TimePosition): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.created_at`)}, ${sql.ref(`${alias}.id`)}) < ${position(at)}`;
}

/** Whether it stands before one. */
export function isBefore(alias: string, at: TimePosition): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.created_at`)}, ${sql.ref(`${alias}.id`)}) > ${position(at)}`;
}
