/** The fewest output tokens of each band but the first. Calls are compared with calls of like length. */
export const BAND_BOUNDS: readonly number[] = [100, 500, 2_000];

/** How long the answers of a band are, in output tokens. */
export interface BandRange {
  from: number;
  /** Null: there is no end. */
  to: number | null;
}

/** Bands are numbered from 1, as `width_bucket` plus 1 gives them. */
export const bandRange = (band: number): BandRange => ({
  from: BAND_BOUNDS[band - 2] ?? 0,
  to: band <= BAND_BOUNDS.length ? BAND_BOUNDS[band - 1]! - 1 : null,
});
