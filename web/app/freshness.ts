/** Whether what is shown is kept up to date, and if not, of when it is. */
export interface Freshness {
  live: boolean;
  /** Milliseconds of the clock: the server was heard of last. */
  asOf: number;
}

/** A connection that comes back at once is nothing to speak of. */
const GRACE_MS = 1_000;
/** No connection that stands is silent for so long: it answers pings. Whoever wakes from sleep may not know yet that it is lost. */
const SILENT_MS = 60_000;

const listeners = new Set<() => void>();
let heardAt = Date.now();
let shown: Freshness = { live: true, asOf: heardAt };
let timer: number | undefined;

function show(next: Freshness): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** The server has said something: what is shown is true as of now. */
export function heard(): void {
  heardAt = Date.now();
}

/** What is live is told again. */
export function connectionStands(): void {
  heard();
  window.clearTimeout(timer);
  timer = undefined;
  if (!shown.live) show({ live: true, asOf: heardAt });
}

/** Nothing is told any more, until the connection stands again. */
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

/** Up to when what is shown is known, in milliseconds of the clock: until now, or until the server was heard of last. */
export function knownUntil(nowMs: number): number {
  if (!shown.live) return shown.asOf;
  return nowMs - heardAt > SILENT_MS ? heardAt : nowMs;
}
