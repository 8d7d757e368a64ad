/**
 * Smallest number of output tokens of each band except the first. Calls are compared with calls of similar length.
 */
export const BAND_BOUNDS: readonly number[] = [100, 500, 2_000];

/** Answer lengths of a band, in output tokens. */
export interface BandRange {
  from: number;
  /** Null for the last band, which has no upper end. */
  to: number | null;
}

/** Bands are numbered from 1 (`width_bucket` plus 1). */
export const bandRange = (band: number): BandRange => ({
  from: BAND_BOUNDS[band - 2] ?? 0,
  to: band <= BAND_BOUNDS.length ? BAND_BOUNDS[band - 1]! - 1 : null,
});
