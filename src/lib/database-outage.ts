/**
 * SQLSTATE classes of failures that are the server's, not the statement's: lost, refused or ended connections (08), exhausted
 * resources, such as its disk (53), an operator's intervention (57), errors of its system (58), and of class 25 only that it takes
 * no writes.
 */
const OUTAGE_STATES = /^(?:(?:08|53|57|58)[0-9A-Z]{3}|25006)$/;
/** Failures of the network and of name resolution. */
const OUTAGE_CODES = /^(?:E(?:CONN|NET|HOST|AI_)[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
/** Messages of `pg` for errors without a code. */
const OUTAGE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|client was closed|query read timeout/i;

/** Whether an error, or one of its causes, means that the database can't be reached, or can't do its work, at the moment. */
export function isDatabaseOutage(error: unknown): boolean {
  for (let current = error as ErrorLike | undefined; current; current = current.cause) {
    const { code, message } = current;
    if (typeof code === 'string' && (OUTAGE_STATES.test(code) || OUTAGE_CODES.test(code))) return true;
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
