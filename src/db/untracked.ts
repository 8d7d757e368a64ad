/**
 * For reads that don't change the rows. MikroORM returns a tracked row as it was first read, also within a transaction; an
 * untracked row is read from the database each time.
 */
export const UNTRACKED = { disableIdentityMap: true } as const;
