import { z } from 'zod';
import { deleteExpired } from '../services/accounts/expired.store.js';
import { defineJob } from './kit.js';

/** Ended sessions and failed logins that nothing looks at any more. */
export const sessionCleanupJob = defineJob({
  name: 'session-cleanup',
  schema: z.strictObject({}),
  every: '1 hour',
  data: {},
  async run({ em, clock, log }) {
    const { sessions, loginFailures } = await deleteExpired(em, clock.now());
    if (sessions + loginFailures > 0) log.info({ sessions, loginFailures }, 'expired rows removed');
  },
});
