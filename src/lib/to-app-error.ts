import { z } from 'zod';
import { AppError } from '../errors.js';
import { isDatabaseOutage } from './database-outage.js';
import { ofWholeInput, zodFieldIssues } from './field-issues.js';

const OUTAGE_RETRY_SECONDS = 2;
/** PostgreSQL rolled back one of two transactions that waited for each other. It may be repeated. */
const DEADLOCK = '40P01';

/** Converts anything thrown into an error that may be shown. Unknown errors become `internal_error` with their cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof z.ZodError) {
    return new AppError('validation_error', { details: zodFieldIssues(error) });
  }
  if (isUnstorableText(error)) {
    return new AppError('validation_error', {
      cause: error,
      details: ofWholeInput("contains a character that isn't allowed"),
    });
  }
  if (isDatabaseOutage(error) || codeOf(error) === DEADLOCK) {
    return new AppError('service_unavailable', { cause: error, retryAfterSeconds: OUTAGE_RETRY_SECONDS });
  }
  return refusalOfPool(error) ?? new AppError('internal_error', { cause: error });
}

/** MikroORM throws a copy of the pool's error (db/pool-share.ts), with the same properties but another class. */
function refusalOfPool(error: unknown): AppError | undefined {
  const { code, options } = (error ?? {}) as Partial<AppError>;
  return code === 'rate_limit_exceeded' && options ? new AppError(code, options) : undefined;
}

/** PostgreSQL's error codes for NUL in a text. Inputs refuse it by field; this is the fallback. */
function isUnstorableText(error: unknown): boolean {
  const code = codeOf(error);
  return code === '22021' || code === '22P05';
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;
