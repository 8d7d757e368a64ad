import { deleteOldAlerts } from '../services/alerts/alert-retention.store.js';
import { removeOldRefusals } from '../services/retention/refusal-retention.store.js';
import { removeOldRollups, removeOldUsage } from '../services/retention/retention.service.js';
import { removeOldWidgetDays } from '../services/retention/widget-retention.store.js';
import { type JobDefinition, scheduled } from './kit.js';

/** Months of retention. */
export interface Retention {
  usage: number;
  /** Roll-ups, counts of refused calls, days of widgets and alert events. */
  history: number;
}

/** Counts removed rows by kind. */
export type ReportRemoved = (
  kind: 'usage_events' | 'rollups' | 'refused_calls' | 'widget_days' | 'alert_events',
  rows: number,
) => void;

/**
 * Removes usage events, roll-ups, counts of refused calls and days of widgets after their retention.
 */
export function usageRetentionJob({ usage, history }: Retention, report: ReportRemoved): JobDefinition {
  return scheduled('usage-retention', '1 hour', async (context) => {
    for (const { table, events } of await removeOldUsage(context, { months: usage })) {
      context.log.info({ table, events }, 'old usage removed');
      report('usage_events', events);
    }
    const rollups = await removeOldRollups(context, { months: history });
    if (rollups > 0) context.log.info({ rollups }, 'old roll-ups removed');
    report('rollups', rollups);
    const refusals = await removeOldRefusals(context.em, context.clock.now(), history);
    if (refusals > 0) context.log.info({ refusals }, 'old counts of refused calls removed');
    report('refused_calls', refusals);
    const days = await removeOldWidgetDays(context.em, context.clock.now(), history);
    if (days > 0) context.log.info({ days }, 'old days of widgets removed');
    report('widget_days', days);
  });
}

/** Removes alert events after their retention, and mails that no limit counts any more. */
export function alertRetentionJob({ history }: Retention, report: ReportRemoved): JobDefinition {
  return scheduled('alert-retention', '1 hour', async ({ em, clock, log }) => {
    const { events, mails } = await deleteOldAlerts(em, clock.now(), history);
    if (events + mails > 0) log.info({ events, mails }, 'old alerts removed');
    report('alert_events', events);
  });
}
