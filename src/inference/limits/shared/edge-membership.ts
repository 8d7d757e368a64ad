/** Which edges exist, according to the last heartbeat. Times are Redis's, in milliseconds. */
export interface Membership {
  now: number;
  /** Every live edge measures what it gives out alone by readings since this time. */
  vouchedSince: number;
  /** Whether this edge was registered before; if not, Redis has lost its data. */
  known: boolean;
  /** Whether this edge was silent for so long that others may have taken it for dead. */
  wasSilent: boolean;
  beats: ReadonlyMap<string, number>;
  /** Edges that live, this one included. */
  alive: number;
  /** Ids of silent edges, which admit nothing any more; each id is in one list. */
  silent: string[];
  /** … of those whose calls in flight are over. */
  lost: string[];
  /** … and of those silent for so long that what they had recorded is committed, or will not be soon. */
  gone: string[];
}

/** An edge that is silent for so long serves nothing. */
export const SILENT_MS = 15_000;
/**
 * What calls of a silent edge hold is kept for so long: a suspended edge goes on with them when it continues. If it is dead,
 * its spool is adopted by then.
 */
const LOST_MS = 60_000;
/**
 * Spools of dead processes are adopted within 80 s (metering/orphans.ts) and committed within seconds. If the database takes nothing,
 * whoever has adopted one keeps its owner from being gone.
 */
const GONE_MS = 120_000;
/** How long an edge is reported as silent while its spool waits to be committed: its holds are released, and no more. */
export const FOUND_MS = LOST_MS;
/**
 * How long an edge is reported as silent once its spool is committed: its holds are released immediately. Its recorded
 * charges follow 10 s later, when every edge has read the balances again (row-cache.ts).
 */
export const FENCED_MS = GONE_MS - 10_000;
/** Dead edges are remembered longer than an unused state in which they may appear. */
export const STATE_TTL_MS = 600_000;
export const MEMBERSHIP_TTL_MS = GONE_MS + STATE_TTL_MS + 60_000;

/** Reads the answer of the script `beat`. */
export function readMembership(answer: readonly (string | number)[], self: string): Membership {
  const now = Number(answer[0]);
  const beats = new Map<string, number>();
  for (let i = 2; i < answer.length; i += 2) beats.set(String(answer[i]), Number(answer[i + 1]));
  const vouched = [...beats.values()].filter((at) => now - at < SILENT_MS);
  const others = [...beats].filter(([id]) => id !== self);
  const silentFor = (ms: number, belowMs = Number.POSITIVE_INFINITY) =>
    others.filter(([, at]) => now - at >= ms && now - at < belowMs).map(([id]) => id);
  const stood = Number(answer[1]);
  return {
    now,
    vouchedSince: Math.min(now, ...vouched),
    known: stood > 0,
    wasSilent: stood > 0 && now - stood >= SILENT_MS,
    beats,
    alive: others.length - silentFor(SILENT_MS).length + 1,
    silent: silentFor(SILENT_MS, LOST_MS),
    lost: silentFor(LOST_MS, GONE_MS),
    gone: silentFor(GONE_MS),
  };
}
