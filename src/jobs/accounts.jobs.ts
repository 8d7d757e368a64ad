import { deleteExpired } from '../services/accounts/expired.store.js';
import { scheduled } from './kit.js';

/** Ended sessions, failed logins and counts that nothing looks at any more. */
export const sessionCleanupJob = scheduled('session-cleanup', '1 hour', async ({ em, clock, log }) => {
  const { sessions, limits } = await deleteExpired(em, clock.now());
  if (sessions + limits > 0) log.info({ sessions, limits }, 'expired rows removed');
});
