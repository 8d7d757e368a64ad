/**
 * Tolerance between clocks and between commit and visibility: the order of events closer together than this is
 * unknown.
 */
export const GRACE = `interval '5 minutes'`;
/** Shorter than events are kept. */
export const LOOKED_BACK = `interval '12 months'`;
