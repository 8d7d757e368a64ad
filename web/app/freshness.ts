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
/** When it last said something over the live connection: what it has answered since is no word of what is live. */
let toldAt = heardAt;
let shown: Freshness = { live: true, asOf: heardAt };
let timer: number | undefined;

function show(next: Freshness): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** The server has answered a question: what it was asked for is true as of now. */
export function heard(): void {
  heardAt = Date.now();
}

/** It has said something over the live connection: what is live is true as of now. */
export function told(): void {
  heardAt = toldAt = Date.now();
}

/** What is live is told again. */
export function connectionStands(): void {
  told();
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

/** Up to when what is live is known, in milliseconds of the clock: until now, or until the server told it last. */
export function knownUntil(nowMs: number): number {
  return !shown.live || nowMs - toldAt > SILENT_MS ? toldAt : nowMs;
}
