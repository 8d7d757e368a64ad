import { SESSION_LIMITS } from './bounded.js';
import { STATEMENT_TIMEOUT_MS } from './patience.js';

/**
 * Settings of a new session. A pooler shares its sessions between clients, and most poolers refuse these settings. Then the
 * limits of the pool and of the database role apply.
 */
export const sessionSettings = (pooled: boolean) =>
  pooled ? {} : { statement_timeout: STATEMENT_TIMEOUT_MS, ...SESSION_LIMITS };
