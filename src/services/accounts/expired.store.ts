import type { EntityManager } from '@mikro-orm/postgresql';
import { EndedSession } from '../../entities/accounts/ended-session.js';
import { KnownNetwork } from '../../entities/accounts/known-network.js';
import { LoginFailure } from '../../entities/accounts/login-failure.js';
import { NetworkCount } from '../../entities/accounts/network-count.js';
import { PasswordReset } from '../../entities/accounts/password-reset.js';
import { DAY_MS } from '../../lib/clock.js';
import { KNOWN_NETWORK_DAYS } from './login-limits.rules.js';

/**
 * Removes what no check looks at any more: ended sessions whose token has run out by itself, failed logins older than a
 * day (their window is 15 minutes), counts of networks whose window has ended, networks that an account hasn't used
 * for long, and links for a new password that have run out.
 * @returns how many rows went: of sessions, and of limits.
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
