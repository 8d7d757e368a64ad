import { z } from 'zod';
import { deleteExpired } from '../services/accounts/expired.store.js';
import { defineJob } from './kit.js';

/** Ended sessions, failed logins and counts that nothing looks at any more. */
export const sessionCleanupJob = defineJob({
  name: 'session-cleanup',
  schema: z.strictObject({}),
  every: '1 hour',
  data: {},
  async run({ em, clock, log }) {
    const { sessions, limits } = await deleteExpired(em, clock.now());
    if (sessions + limits > 0) log.info({ sessions, limits }, 'expired rows removed');
  },
});
