/** The error with which a pooler refuses the settings of a new session. */
const REFUSAL = /unsupported startup parameter/i;

/**
 * Reports the missing setting if `DATABASE_URL` is the address of a pooler and `DATABASE_DIRECT_URL` isn't set, in which case
 * waiting for the database doesn't help.
 * @throws Error if `error` is such a refusal; otherwise it returns.
 */
export function throwIfPooler(error: unknown): void {
  if (!REFUSAL.test(String((error as Error).message))) return;
  const message =
    'DATABASE_URL leads to a pooler: set DATABASE_DIRECT_URL to the address of the database past it';
  throw new Error(message, { cause: error });
}
