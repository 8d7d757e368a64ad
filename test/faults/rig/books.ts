import { checkInvariants } from '../../support/invariants.js';
import { until } from '../../support/until.js';
import type { Rig } from './rig.js';
import { INPUT_TOKENS } from './upstream.js';

interface Row {
  id: string;
  status: 'success' | 'error';
  error_code: string | null;
  client_aborted: boolean;
  output_tokens: number;
  input_tokens: number;
}

/** Disagreements between callers, upstream and database. All lists are empty if nothing was lost and nothing invented. */
export interface Books {
  /** Complete answers that are not charged. */
  uncharged: string[];
  /** Complete answers that are charged for other tokens than the upstream reported. */
  mischarged: string[];
  /** Charged calls whose caller didn't get the whole answer, didn't hang up and wasn't cut off by a crash of ours. */
  overcharged: string[];
  /** Forwarded calls without a row. */
  unrecorded: string[];
  /** Rows of calls that nobody made. */
  invented: string[];
  /** Calls that reached the upstream twice under one id. */
  repeated: string[];
  /** Broken invariants, with subjects. */
  violations: string[];
}

/** For messages: how many of each were compared. */
export interface BooksCounts {
  calls: number;
  complete: number;
  forwarded: number;
  rows: number;
}

const SETTLED_MS = 15_000;

/**
 * Compares what callers and upstream saw with the database, once every forwarded call has its row. `crashes` says
 * that processes were killed: a call that was cut off by that may be charged, since its answer was on its way.
 */
export async function compareBooks(
  rig: Rig,
  { crashes = false, timeoutMs = SETTLED_MS } = {},
): Promise<{ books: Books; counts: BooksCounts }> {
  const { pool } = rig.postgres;
  const { forwarded } = rig.upstream;
  const readRows = async () =>
    new Map(
      (
        await pool.query<Row>(
          'select id, status, error_code, client_aborted, input_tokens, output_tokens from usage_events',
        )
      ).rows.map((row) => [row.id, row] as const),
    );
  const missing = async () => {
    const rows = await readRows();
    return [...forwarded.keys()].filter((id) => !rows.has(id));
  };
  await until(async () => (await missing()).length === 0, {
    timeoutMs,
    intervalMs: 250,
    what: 'rows of all calls',
  }).catch(() => undefined);
  // Calls that were recorded but not forwarded follow within one flush.
  await until(() => settledOf(rig), { timeoutMs, what: 'an empty spool' }).catch(() => undefined);

  const rows = await readRows();
  const entries = rig.journal.entries;
  const complete = entries.filter((entry) => entry.complete);
  const completeIds = new Set(complete.map((entry) => entry.id));
  const answered = new Set(entries.flatMap((entry) => entry.id ?? []));
  const unanswered = entries.filter((entry) => entry.id === undefined).length;
  const cut = new Set(entries.filter((entry) => !entry.complete && !entry.left).map((entry) => entry.n));
  const left = new Set(entries.filter((entry) => entry.left).map((entry) => entry.n));

  const overcharged = [...rows.values()].filter((row) => {
    if (row.status !== 'success' || row.client_aborted || completeIds.has(row.id)) return false;
    const call = forwarded.get(row.id);
    // The whole answer was on its way when the caller hung up, which only the caller sees.
    if (call && left.has(call.order.n)) return false;
    return !(crashes && (!call || cut.has(call.order.n)));
  });
  const strangers = [...rows.values()].filter((row) => !forwarded.has(row.id) && !answered.has(row.id));
  const books: Books = {
    uncharged: complete.flatMap(({ id }) => (rows.get(id!)?.status === 'success' ? [] : id!)),
    mischarged: complete.flatMap(({ id }) => {
      const row = rows.get(id!);
      const call = forwarded.get(id!);
      if (!row || !call || call.order.fault === 'no-usage') return [];
      const right = row.input_tokens === INPUT_TOKENS && row.output_tokens === (call.order.words ?? 5);
      return right ? [] : id!;
    }),
    overcharged: overcharged.map((row) => row.id),
    unrecorded: [...forwarded.keys()].filter((id) => !rows.has(id)),
    // An edge that is killed, or whose caller hangs up, between its intent and the upstream leaves a row that only
    // the caller's missing answer explains.
    invented:
      strangers.every((row) => row.status === 'error') && strangers.length <= unanswered
        ? []
        : strangers.map((row) => row.id),
    repeated: rig.upstream.repeated,
    violations: await checkInvariants(pool),
  };
  const counts = {
    calls: entries.length,
    complete: complete.length,
    forwarded: forwarded.size,
    rows: rows.size,
  };
  return { books, counts };
}

/** Books without a fault. */
export const CLEAN: Books = {
  uncharged: [],
  mischarged: [],
  overcharged: [],
  unrecorded: [],
  invented: [],
  repeated: [],
  violations: [],
};

/** Whether no row was added for a moment. */
async function settledOf(rig: Rig): Promise<boolean> {
  const count = async () =>
    (await rig.postgres.pool.query<{ n: string }>('select count(*) as n from usage_events')).rows[0]!.n;
  const before = await count();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return before === (await count());
}
