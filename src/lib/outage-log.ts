import { isDatabaseOutage } from './database-outage.js';
import type { Logger } from './logger.js';

export interface OutageLog {
  /** Logs an error: only the first of a database outage, and every other one. */
  failed(error: unknown): void;
  close(): void;
}

/**
 * For what tries again every second: an outage is one line at its start and one at its end, with the error count. It
 * has ended when nothing failed for `quietMs`. `what` begins both lines.
 */
export function createOutageLog(log: Logger, what: string, quietMs: number): OutageLog {
  let errors = 0;
  let quiet: NodeJS.Timeout | undefined;
  return {
    failed(error) {
      if (!isDatabaseOutage(error)) {
        log.error({ err: error }, `${what} failed`);
        return;
      }
      if (errors++ === 0) log.warn({ err: error }, `${what} is waiting for the database`);
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        log.warn({ errors }, `${what} resumes: the database is back`);
        errors = 0;
      }, quietMs).unref();
    },
    close: () => clearTimeout(quiet),
  };
}
