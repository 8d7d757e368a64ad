import { type RawBuilder, sql } from 'kysely';
import type { TimePosition } from '../lib/connection-input.js';

const position = ({ createdUs, id }: TimePosition): RawBuilder<unknown> =>
  sql`(timestamptz 'epoch' + ${createdUs}::bigint * interval '1 microsecond', ${id}::uuid)`;

/** Condition for rows after a position in a list ordered by `created_at desc, id desc`. */
export function isAfter(alias: string, at: TimePosition): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.created_at`)}, ${sql.ref(`${alias}.id`)}) < ${position(at)}`;
}

/** The same for rows before a position. */
export function isBefore(alias: string, at: TimePosition): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.created_at`)}, ${sql.ref(`${alias}.id`)}) > ${position(at)}`;
}
