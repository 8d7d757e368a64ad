/** How long an edge keeps a lease to itself, in milliseconds: others that need it wait for so long at most. */
export const LEASE_MS = 500;

/** A lease of an edge whose clock or process has stood still for so long, in milliseconds, is not used. */
export const VALID_MS = 2_000;

/** An edge that has not given its lease back after so many milliseconds keeps others from knowing what is left. */
export const GIVEN_BACK_MS = 1_500;
