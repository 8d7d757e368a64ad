/** How long to wait before trying again: twice as long after each failure. */
export interface BackOff {
  /** Before the first try. */
  firstMs: number;
  maxMs: number;
}

/** Milliseconds to wait behind so many tries that have failed since the first failure. */
export const backOffMs = ({ firstMs, maxMs }: BackOff, tries: number): number =>
  Math.min(maxMs, firstMs * 2 ** tries);

/** The same, less up to half of it at random, so that those who failed together don't come back together. */
export const jitteredMs = (backOff: BackOff, tries: number): number =>
  backOffMs(backOff, tries) * (0.5 + Math.random() / 2);
