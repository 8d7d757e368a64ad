import { type RawBuilder, sql } from 'kysely';
import { timeOfUs } from '../list-position.store.js';

/** Where a page of a feed ended, among the rows that a snapshot shows. */
export interface FeedPosition {
  upTo: string;
  /** Microseconds. */
  afterUs: string;
  afterId: string;
}

interface FeedColumns {
  /** Id of the transaction that wrote a row. */
  writer: RawBuilder<unknown>;
  at: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

/** Condition for rows after a position, ordered by time and id; empty without a position. */
export const andBehind = (
  rest: FeedPosition | undefined,
  { writer, at, id }: FeedColumns,
): RawBuilder<unknown> =>
  rest
    ? sql`and pg_visible_in_snapshot(${writer}, ${rest.upTo}::pg_snapshot)
        and (${at}, ${id}) > (${timeOfUs(rest.afterUs)}, ${rest.afterId}::uuid)`
    : sql``;
