/**
 * Of reads whose rows are only looked at. What MikroORM tracks it gives again, in a transaction too, as it was read first;
 * what is untracked is read anew each time, and belongs to whoever asked.
 */
export const UNTRACKED = { disableIdentityMap: true } as const;
