import { deleteExpired } from '../services/accounts/expired.store.js';
import { scheduled } from './kit.js';

/** Removes expired sessions, failed logins and counts. */
export const sessionCleanupJob = scheduled('session-cleanup', '1 hour', async ({ em, clock, log }) => {
  const { sessions, limits } = await deleteExpired(em, clock.now());
  if (sessions + limits > 0) log.info({ sessions, limits }, 'expired rows removed');
});
