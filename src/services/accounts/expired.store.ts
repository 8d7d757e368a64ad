import type { EntityManager } from '@mikro-orm/postgresql';
import { EndedSession } from '../../entities/accounts/ended-session.js';
import { KnownNetwork } from '../../entities/accounts/known-network.js';
import { LoginFailure } from '../../entities/accounts/login-failure.js';
import { NetworkCount } from '../../entities/accounts/network-count.js';
import { PasswordReset } from '../../entities/accounts/password-reset.js';
import { DAY_MS } from '../../lib/clock.js';
import { KNOWN_NETWORK_DAYS } from './login-limits.rules.js';

/**
 * Deletes rows that no check reads any more: ended sessions whose token has expired, failed log-ins older than a day
 * (their window is 15 minutes), network counts whose window has ended, networks that an account hasn't used for long,
 * and expired password links.
 * @returns the number of deleted rows: of sessions, and of limits.
 */
export async function deleteExpired(
  em: EntityManager,
  nowMs: number,
): Promise<{ sessions: number; limits: number }> {
  const before = (ms: number) => ({ $lt: new Date(nowMs - ms) });
  const sessions = await em.nativeDelete(EndedSession, { expiresAt: before(0) });
  const failures = await em.nativeDelete(LoginFailure, { createdAt: before(DAY_MS) });
  const counts = await em.nativeDelete(NetworkCount, { endsAt: before(0) });
  const networks = await em.nativeDelete(KnownNetwork, {
    lastSuccessAt: before(KNOWN_NETWORK_DAYS * DAY_MS),
  });
  const resets = await em.nativeDelete(PasswordReset, { expiresAt: before(0) });
  return { sessions, limits: failures + counts + networks + resets };
}
