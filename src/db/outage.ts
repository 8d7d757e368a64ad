/** SQLSTATE classes and codes that say "not now" instead of "wrong": lost, refused or ended connections. */
const OUTAGE_STATES = /^(?:08...|53...|57P0[1-3])$/;
const OUTAGE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
/** Of `pg`, which gives these no code. */
const OUTAGE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error/i;

/** Whether an error means that the database can't be reached at the moment. Looks through its causes. */
export function isDatabaseOutage(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string' && (OUTAGE_STATES.test(code) || OUTAGE_CODES.has(code))) return true;
    if (OUTAGE_MESSAGES.test(current.message)) return true;
  }
  return false;
}
