import type { ServiceContext } from '../context.js';
import { HOUR_MS, hourStart } from '../lib/clock.js';
import { runHourlyAudit } from '../services/audit/audit.service.js';
import { postDueCharges } from '../services/billing/charge-posting.js';
import type { GrantCounts } from '../services/billing/monthly-grants.js';
import { type JobDefinition, scheduled } from './kit.js';

/**
 * Grants the included credits of paid plans within a minute of each month's start. A repeat grants nothing twice but reads all
 * accounts with a paid plan. So each process looks only at its start, at each full hour in UTC, one of which starts the month,
 * and again while accounts are locked.
 */
export function monthlyGrantsJob(billing: {
  grantMonthlyCredits(context: ServiceContext): Promise<GrantCounts>;
}): JobDefinition {
  let nextLook = 0;
  return scheduled('monthly-grants', '1 minute', async (context) => {
    const now = context.clock.now();
    if (now < nextLook) return;
    const { examined, granted, locked } = await billing.grantMonthlyCredits(context);
    if (granted > 0) context.log.info({ examined, granted }, 'included credits granted');
    if (locked > 0)
      context.log.warn({ locked }, 'locked accounts get their included credits at the next run');
    else nextLook = hourStart(now) + HOUR_MS;
  });
}

/** Writes the ledger entries of the charges of about the last hour. */
export const postChargesJob = scheduled('post-charges', '1 hour', async (context) => {
  const entries = await postDueCharges(context);
  if (entries > 0) context.log.info({ entries }, 'charges posted to the ledger');
});

/** Checks the invariants of the money and reports the number of violations of each. */
export function auditJob(report: (invariant: string, violations: number) => void): JobDefinition {
  return scheduled('audit', '1 hour', async (context) => {
    for (const { invariant, violations } of await runHourlyAudit(context)) report(invariant.name, violations);
  });
}
