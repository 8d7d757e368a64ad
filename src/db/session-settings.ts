import { SESSION_LIMITS } from './bounded.js';
import { STATEMENT_TIMEOUT_MS } from './patience.js';

/**
 * Settings of a new session. None for a pooler: it shares sessions between clients, and most poolers refuse such settings. The
 * limits of the pool and of the database role apply instead.
 */
export const sessionSettings = (pooled: boolean) =>
  pooled ? {} : { statement_timeout: STATEMENT_TIMEOUT_MS, ...SESSION_LIMITS };
