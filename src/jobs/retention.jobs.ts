import { z } from 'zod';
import { deleteOldAlerts } from '../services/alerts/alert-retention.store.js';
import { removeOldRollups, removeOldUsage } from '../services/retention/retention.service.js';
import { defineJob, type JobDefinition } from './kit.js';

/** Months that things are kept. */
export interface Retention {
  usage: number;
  /** Roll-ups and alert events. */
  history: number;
}

/** Counts removed rows by kind. */
export type ReportRemoved = (kind: 'usage_events' | 'rollups' | 'alert_events', rows: number) => void;

/** Usage events and roll-ups that are older than they are kept; hourly, since a repeat finds nothing to do. */
export function usageRetentionJob({ usage, history }: Retention, report: ReportRemoved): JobDefinition {
  return defineJob({
    name: 'usage-retention',
    schema: z.strictObject({}),
    every: '1 hour',
    data: {},
    async run(context) {
      for (const { table, events } of await removeOldUsage(context, { months: usage })) {
        context.log.info({ table, events }, 'old usage removed');
        report('usage_events', events);
      }
      const rollups = await removeOldRollups(context, { months: history });
      if (rollups > 0) context.log.info({ rollups }, 'old roll-ups removed');
      report('rollups', rollups);
    },
  });
}

/** Alert events that ended long ago, and mails that no limit counts any more. */
export function alertRetentionJob({ history }: Retention, report: ReportRemoved): JobDefinition {
  return defineJob({
    name: 'alert-retention',
    schema: z.strictObject({}),
    every: '1 hour',
    data: {},
    async run({ em, clock, log }) {
      const { events, mails } = await deleteOldAlerts(em, clock.now(), history);
      if (events + mails > 0) log.info({ events, mails }, 'old alerts removed');
      report('alert_events', events);
    },
  });
}
