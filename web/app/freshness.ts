/** Whether the page is kept up to date, and if not, how old it is. */
export interface Freshness {
  live: boolean;
  /** When the server last answered or sent something, in milliseconds. */
  asOf: number;
}

/** A connection that is back within this isn't shown as lost. */
const GRACE_MS = 1_000;
/** An open connection is never silent for so long, since it answers pings. After a sleep, the page may not know yet that it is lost. */
const SILENT_MS = 60_000;

const listeners = new Set<() => void>();
let heardAt = Date.now();
/** When the last message came over the live connection. Later answers over HTTP say nothing about live data. */
let messageAt = heardAt;
let shown: Freshness = { live: true, asOf: heardAt };
let timer: number | undefined;

function show(next: Freshness): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** The server has answered a request. */
export function noteAnswer(): void {
  heardAt = Date.now();
}

/** A message came over the live connection: live data is current. */
export function noteMessage(): void {
  heardAt = messageAt = Date.now();
}

/** The live connection is open. */
export function connectionOpened(): void {
  noteMessage();
  window.clearTimeout(timer);
  timer = undefined;
  if (!shown.live) show({ live: true, asOf: heardAt });
}

/** The live connection is lost until `connectionOpened` is called again. */
export function connectionLost(): void {
  if (timer !== undefined || !shown.live) return;
  const asOf = heardAt;
  timer = window.setTimeout(() => show({ live: false, asOf }), GRACE_MS);
}

/** Calls back when `freshness` has changed, until the returned function is called. */
export function onFreshness(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const freshness = (): Freshness => shown;

/** Until when live data is known, in milliseconds: now, or the time of the last message if the connection is lost. */
export function knownUntil(nowMs: number): number {
  return !shown.live || nowMs - messageAt > SILENT_MS ? messageAt : nowMs;
}
