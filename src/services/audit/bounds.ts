/**
 * Between clocks and between what is committed and what is seen: what happened closer together than this says nothing
 * about which was first.
 */
export const GRACE = `interval '5 minutes'`;
/** Less than events are kept. */
export const LOOKED_BACK = `interval '12 months'`;
