/** `ECONNREFUSED`, `DEPTH_ZERO_SELF_SIGNED_CERT`, `HPE_INVALID_CONSTANT` and their like. */
const CODE = /^[A-Z][A-Z0-9_]{1,60}$/;
const MOST_CAUSES = 4;

/** The code of what broke a connection, of the innermost cause that has one. For operators, never for callers. */
export function causeOf(failure: unknown): string | undefined {
  let found: string | undefined;
  let at = failure as { code?: unknown; cause?: unknown; errors?: unknown[] } | null | undefined;
  for (let depth = 0; depth < MOST_CAUSES && typeof at === 'object' && at !== null; depth++) {
    if (typeof at.code === 'string' && CODE.test(at.code)) found = at.code;
    // Where a name has several addresses, each has failed.
    at = (at.cause ?? at.errors?.[0]) as typeof at;
  }
  return found;
}
