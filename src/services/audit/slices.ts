import { type AccountPart, ANY_TIME, LATE, LATER } from './account-slice.rules.js';
import { Findings, findViolations } from './findings.js';
import type { Query } from './invariant.js';
import type { Position } from './position.js';
import { type AuditCandidate, readAccounts, readHours, totalsOf } from './slices.store.js';
import { endOfSlice, type TimeSlice } from './time-slice.rules.js';

/** What a slice of an audit of everything contained. */
export interface AuditStep {
  times?: TimeSlice;
  accounts?: readonly AccountPart[];
  findings: Findings;
  /** Undefined at the end. */
  next: Position | undefined;
}

/** About how much a slice contains. */
export interface SliceSize {
  calls: number;
  accounts: number;
  /** Of all its accounts. */
  charges: number;
}

export const SLICE: SliceSize = { calls: 100_000, accounts: 500, charges: 100_000 };

/** Checks the next slice of everything. */
export async function checkNext(query: Query, position: Position, size: SliceSize): Promise<AuditStep> {
  if (position.from !== 'infinity') {
    const hours = await readHours(query, position.from);
    const times = { from: position.from, until: endOfSlice(hours.sizes, hours.areAll, size.calls) };
    return { times, findings: await checkTimes(query, times), next: { ...position, from: times.until } };
  }
  const accounts = sliceOf(await readAccounts(query, position, size), size);
  if (accounts.length === 0) return { findings: new Findings(), next: undefined };
  const findings = await checkAccounts(query, accounts);
  // A large account goes on with the next slice.
  const { accountId: account, isOpen } = accounts.at(-1)!;
  const rest = isOpen ? { start: null, total: '0' } : (await totalsOf(query, accounts)).at(-1)!;
  return { accounts, findings, next: { from: 'infinity', account, start: rest.start, total: rest.total } };
}

/** Checks the calls of a stretch of time and their sums. */
export const checkTimes = (query: Query, slice: TimeSlice): Promise<Findings> =>
  findViolations(query, ({ times }) => times?.(slice));

/**
 * Checks parts of accounts: first with calls from where nearly all are. Accounts with a violation are then checked one by one, with
 * calls of any time.
 * @param proven Called with the parts without a violation.
 */
export async function checkAccounts(
  query: Query,
  parts: readonly AccountPart[],
  proven?: (parts: readonly AccountPart[]) => Promise<void>,
): Promise<Findings> {
  let findings = new Findings();
  for (const late of parts.length > 1 ? [LATE, LATER] : [LATE, LATER, ANY_TIME]) {
    findings = await findViolations(query, ({ accounts }) => accounts?.({ parts, late }));
    if (findings.violated.length === 0) {
      await proven?.(parts);
      return findings;
    }
  }
  if (parts.length === 1) return findings;
  const all = new Findings();
  const middle = Math.ceil(parts.length / 2);
  for (const half of [parts.slice(0, middle), parts.slice(middle)])
    all.add(await checkAccounts(query, half, proven));
  return all;
}

/** The first accounts with few enough charges together, but at least one. */
export function sliceOf(candidates: readonly AuditCandidate[], size: SliceSize): AuditCandidate[] {
  let charges = 0;
  return candidates.filter((candidate, nth) => {
    charges += candidate.charges;
    return nth === 0 || charges <= size.charges;
  });
}
