import { z } from 'zod';
import { deleteOldAlerts } from '../services/alerts/alert-retention.store.js';
import { defineJob } from './kit.js';

/** Alert events that ended more than 13 months ago, and mails that no limit counts any more. */
export const alertRetentionJob = defineJob({
  name: 'alert-retention',
  schema: z.strictObject({}),
  every: '1 hour',
  data: {},
  async run({ em, clock, log }) {
    const { events, mails } = await deleteOldAlerts(em, clock.now());
    if (events + mails > 0) log.info({ events, mails }, 'old alerts removed');
  },
});
