import { isDatabaseOutage } from './database-outage.js';
import type { Logger } from './logger.js';

/** What is away, and how the two lines end; the database if left out. */
interface Outage {
  isOutage(error: unknown): boolean;
  begins: string;
  ends: string;
}

const OF_DATABASE: Outage = {
  isOutage: isDatabaseOutage,
  begins: 'is waiting for the database',
  ends: 'resumes: the database is back',
};

export interface OutageLog {
  /** Logs an error: only the first of an outage, and every one that is none. */
  failed(error: unknown): void;
  close(): void;
}

/**
 * For what is tried again and again: an outage is one line at its start and one at its end, with the error count. It
 * has ended when nothing failed for `quietMs`. `what` begins both lines.
 */
export function createOutageLog(
  log: Logger,
  what: string,
  quietMs: number,
  { isOutage, begins, ends }: Outage = OF_DATABASE,
): OutageLog {
  let errors = 0;
  let quiet: NodeJS.Timeout | undefined;
  return {
    failed(error) {
      if (!isOutage(error)) {
        log.error({ err: error }, `${what} failed`);
        return;
      }
      if (errors++ === 0) log.warn({ err: error }, `${what} ${begins}`);
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        log.warn({ errors }, `${what} ${ends}`);
        errors = 0;
      }, quietMs).unref();
    },
    close: () => clearTimeout(quiet),
  };
}
