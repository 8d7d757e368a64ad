/** SQLSTATE classes and codes of temporary failures: lost, refused or ended connections, and exhausted resources. */
const OUTAGE_STATES = /^(?:08...|53...|57014|57P0[1-3])$/;
const OUTAGE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
/** Messages of `pg` for errors without a code. */
const OUTAGE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|client was closed|query read timeout/i;

/** Whether an error, or one of its causes, means that the database can't be reached at the moment. */
export function isDatabaseOutage(error: unknown): boolean {
  for (let current = error as ErrorLike | undefined; current; current = current.cause) {
    const { code, message } = current;
    if (typeof code === 'string' && (OUTAGE_STATES.test(code) || OUTAGE_CODES.has(code))) return true;
    if (typeof message === 'string' && OUTAGE_MESSAGES.test(message)) return true;
  }
  return false;
}

/** Not recognised by class: drivers wrap errors, and tests run in a realm of their own. */
interface ErrorLike {
  code?: unknown;
  message?: unknown;
  cause?: ErrorLike;
}
