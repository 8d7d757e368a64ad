/** Which edges exist, according to the last heartbeat. Times are Redis's, in milliseconds. */
export interface Membership {
  now: number;
  /** Every live edge measures its share by database readings since this time. */
  vouchedSince: number;
  /** Whether this edge was registered before. If not, Redis has lost its data. */
  known: boolean;
  /** Whether this edge was silent for so long that other edges may have counted it as dead. */
  wasSilent: boolean;
  beats: ReadonlyMap<string, number>;
  /** Number of live edges, including this one. */
  alive: number;
  /** Ids of silent edges, which admit no calls. Each id is in one list only. */
  silent: string[];
  /** Ids of lost edges, whose calls in flight are over. */
  lost: string[];
  /** Ids of gone edges, whose recorded charges are committed, or won't be soon. */
  gone: string[];
}

/** An edge without a heartbeat for this long is silent: it serves nothing. */
export const SILENT_MS = 15_000;
/**
 * After this time, a silent edge is lost and its holds are released. Until then they count, since a suspended edge continues
 * its calls when it resumes. If the edge is dead, its spool is adopted by then.
 */
const LOST_MS = 60_000;
/**
 * After this time, a silent edge is gone and its charges no longer count. Spools of dead processes are adopted within 80 s
 * (metering/orphans.ts) and committed within seconds. While the database takes no commits, the edge that has adopted a spool
 * keeps the spool's owner from being gone.
 */
const GONE_MS = 120_000;
/** The silence reported for an edge whose adopted spool waits to be committed. Its holds are released, its charges are kept. */
export const FOUND_MS = LOST_MS;
/**
 * The silence reported for an edge whose spool is committed. Its holds are released at once. Its charges are released 10 s
 * later, when every edge has read the balances again (row-cache.ts).
 */
export const FENCED_MS = GONE_MS - 10_000;
/** How long Redis keeps an unused state. */
export const STATE_TTL_MS = 600_000;
/** How long Redis remembers a dead edge: longer than any state in which the edge may appear. */
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
  const lastBeat = Number(answer[1]);
  return {
    now,
    vouchedSince: Math.min(now, ...vouched),
    known: lastBeat > 0,
    wasSilent: lastBeat > 0 && now - lastBeat >= SILENT_MS,
    beats,
    alive: others.length - silentFor(SILENT_MS).length + 1,
    silent: silentFor(SILENT_MS, LOST_MS),
    lost: silentFor(LOST_MS, GONE_MS),
    gone: silentFor(GONE_MS),
  };
}
