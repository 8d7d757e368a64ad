/** How long to wait before a retry. The wait doubles with each failure. */
export interface BackOff {
  /** Wait before the first retry. */
  firstMs: number;
  maxMs: number;
}

/** Milliseconds to wait before the retry after `tries` failed retries. */
export const backOffMs = ({ firstMs, maxMs }: BackOff, tries: number): number =>
  Math.min(maxMs, firstMs * 2 ** tries);

/** The same, shortened at random by up to half, so that clients that failed together don't return together. */
export const jitteredMs = (backOff: BackOff, tries: number): number =>
  backOffMs(backOff, tries) * (0.5 + Math.random() / 2);
