import { z } from 'zod';
import { wholeInput } from './input-fields.js';
import { trimEnd } from './trim-end.js';
import { uuidOf } from './uuid.js';

/**
 * Paging by position instead of by number, for lists that grow at their start while a caller pages through them: no entry is
 * repeated or left out. A cursor is opaque to callers, and valid only for its own list.
 */
export interface ConnectionEdge<Node> {
  /** Position of this entry, for `after` and, where a list has it, `before`. */
  cursor: string;
  node: Node;
}

export interface ConnectionPage<Node> {
  edges: ConnectionEdge<Node>[];
  hasNextPage: boolean;
  /** If absent: a page after a cursor has a previous page. */
  hasPreviousPage?: boolean;
}

/** Position in a list ordered by time and id. */
export interface TimePosition {
  /** Microseconds since the epoch, in decimal. */
  createdUs: string;
  id: string;
}

export const MAX_PAGE = 100;
/** Small, so that a query of many lists stays within the cost limit of an operation. */
export const DEFAULT_PAGE = 20;
/** Fits into a bigint and a timestamp of the database. */
const POSITION_DIGITS = /^\d{1,18}$/;

// No Buffer here: forms of the web pages use the same schemas.
const encode = (position: string): string =>
  trimEnd(btoa(position).replaceAll('+', '-').replaceAll('/', '_'), '=');

/** Empty if `cursor` isn't base64. */
function decode(cursor: string): string {
  try {
    return atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

export const timeCursor = ({ createdUs, id }: TimePosition): string => encode(`${createdUs}.${id}`);
export const sequenceCursor = (seq: string): string => encode(seq);

const NO_CURSOR = 'is not a cursor of this list';

const cursorOf = <Position>(read: (text: string) => Position | undefined) =>
  z
    .string()
    .max(128)
    .transform((cursor, context): Position => {
      const position = read(decode(cursor));
      if (position !== undefined) return position;
      context.issues.push({ code: 'custom', message: NO_CURSOR, input: cursor });
      return z.NEVER;
    });

const timePosition = cursorOf((text): TimePosition | undefined => {
  const [createdUs = '', entry = ''] = text.split('.', 2);
  const id = uuidOf(entry);
  return POSITION_DIGITS.test(createdUs) && id !== undefined ? { createdUs, id } : undefined;
});
const sequencePosition = cursorOf((text) => (POSITION_DIGITS.test(text) ? text : undefined));

export const firstUpTo = (most: number) =>
  wholeInput(1, most).default(DEFAULT_PAGE).describe(`Number of entries to return, 1 to ${most}.`);

const first = firstUpTo(MAX_PAGE);
const absentAsNull = (value: unknown): unknown => value ?? undefined;

/** The `first` (1 to 100, default 20) entries after `after`, in a list ordered by time and id. */
export const timeConnectionInput = z.strictObject({
  first,
  after: z.preprocess(absentAsNull, timePosition.optional()),
});
export type TimeConnectionInput = z.output<typeof timeConnectionInput>;

/** The same, or the `first` entries right before `before`. */
export const timeConnectionBothWays = timeConnectionInput.extend({
  before: z.preprocess(absentAsNull, timePosition.optional()),
});
const ONE_WAY = { message: "can't be combined with after", path: ['before'] };
/** Refinement: `after` and `before` exclude each other. */
export const oneWay = [
  ({ after, before }: { after?: unknown; before?: unknown }) => after === undefined || before === undefined,
  ONE_WAY,
] as const;

/** The `first` entries after `after`, in a list ordered by a sequence. */
export const sequenceConnectionInput = z.strictObject({
  first,
  after: z.preprocess(absentAsNull, sequencePosition.optional()),
});
export type SequenceConnectionInput = z.output<typeof sequenceConnectionInput>;

/** The `first` entries after `after`, in a list ordered by time and id, or by a value that changes: then cursors are numbers. */
export const numberedConnectionInput = z.strictObject({
  first,
  after: z.preprocess(absentAsNull, z.union([timePosition, sequencePosition], NO_CURSOR).optional()),
});

/** Makes a page of `first` entries from rows that were read with limit `first + 1`. */
export function pageOfRows<Row, Node>(
  rows: readonly Row[],
  first: number,
  edgeOf: (row: Row) => ConnectionEdge<Node>,
): ConnectionPage<Node> {
  return { edges: rows.slice(0, first).map(edgeOf), hasNextPage: rows.length > first };
}

/** The same for the rows before a cursor, nearest first. */
export function pageOfRowsBefore<Row, Node>(
  rows: readonly Row[],
  first: number,
  edgeOf: (row: Row) => ConnectionEdge<Node>,
): ConnectionPage<Node> {
  const edges = rows.slice(0, first).map(edgeOf).reverse();
  return { edges, hasNextPage: true, hasPreviousPage: rows.length > first };
}
