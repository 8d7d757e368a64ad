import type { ServiceContext } from '../context.js';
import { runAudit } from '../services/audit/audit.service.js';
import type { GrantCounts } from '../services/billing/monthly-grants.js';
import { type JobDefinition, scheduled } from './kit.js';

/** Included credits of paid plans, at each month's start; hourly, since a repeat grants nothing twice. */
export function monthlyGrantsJob(billing: {
  grantMonthlyCredits(context: ServiceContext): Promise<GrantCounts>;
}): JobDefinition {
  return scheduled('monthly-grants', '1 hour', async (context) => {
    const { examined, granted, locked } = await billing.grantMonthlyCredits(context);
    if (granted > 0) context.log.info({ examined, granted }, 'included credits granted');
    if (locked > 0)
      context.log.warn({ locked }, 'locked accounts get their included credits at the next run');
  });
}

/** The invariants of the money. `report` gets the number of violations of each. */
export function auditJob(report: (invariant: string, violations: number) => void): JobDefinition {
  return scheduled('audit', '1 hour', async (context) => {
    for (const { invariant, violations } of await runAudit(context)) report(invariant.name, violations);
  });
}
