import { isDatabaseOutage } from './database-outage.js';
import type { Logger } from './logger.js';

/** What counts as an outage, and how its two log lines end. */
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
  /** Logs an error. During an outage, only the first one is logged. */
  failed(error: unknown): void;
  close(): void;
}

/**
 * For work that is retried again and again: an outage, of the database by default, is logged by one line at its start and one at its
 * end, with the number of errors. It ends after `quietMs` without an error. Both lines begin with `what`.
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
