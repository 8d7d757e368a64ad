/** What a pooler says to the settings that a session begins with. */
const REFUSAL = /unsupported startup parameter/i;

/**
 * Says what to set where a pooler stands before the database and nobody has said so: waiting doesn't help.
 * @throws Error for such a refusal; returns for every other error
 */
export function throwIfPooler(error: unknown): void {
  if (!REFUSAL.test(String((error as Error).message))) return;
  const message =
    'DATABASE_URL leads to a pooler: set DATABASE_DIRECT_URL to the address of the database past it';
  throw new Error(message, { cause: error });
}
