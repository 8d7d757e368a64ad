import { z } from 'zod';
import type { ServiceContext } from '../context.js';
import { runAudit } from '../services/audit/audit.service.js';
import { defineJob, type JobDefinition } from './kit.js';

/** Included credits of paid plans, at each month's start; hourly, since a repeat grants nothing twice. */
export function monthlyGrantsJob(billing: {
  grantMonthlyCredits(context: ServiceContext): Promise<{ examined: number; granted: number }>;
}): JobDefinition {
  return defineJob({
    name: 'monthly-grants',
    schema: z.strictObject({}),
    every: '1 hour',
    data: {},
    async run(context) {
      const { examined, granted } = await billing.grantMonthlyCredits(context);
      if (granted > 0) context.log.info({ examined, granted }, 'included credits granted');
    },
  });
}

/** The invariants of the money. `report` gets the number of violations of each. */
export function auditJob(report: (invariant: string, violations: number) => void): JobDefinition {
  return defineJob({
    name: 'audit',
    schema: z.strictObject({}),
    every: '1 hour',
    data: {},
    async run(context) {
      for (const { invariant, violations } of await runAudit(context)) report(invariant.name, violations);
    },
  });
}
