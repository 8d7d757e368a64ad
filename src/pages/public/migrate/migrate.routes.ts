import type { FastifyRequest } from 'fastify';
import type { RestApp } from '../../../rest/rest-app.js';
import { reads } from '../../../rest/route-rules.js';
import { estimateInput } from '../../../services/migration/migration.inputs.js';
import type { Services } from '../../../services.js';
import { show } from '../../show.js';
import type { SiteContext } from '../../site.js';
import { sitePage } from '../../site-page.js';
import { estimateView } from './estimate-view.rules.js';
import { type MigrateBasis, migratePage } from './migrate-page.js';
import type { PlanLimits } from './plan-advice.rules.js';
import { EXAMPLE_USAGE, readForm, type UsageForm } from './usage-form.rules.js';

const LONGEST_VALUE = 200;

/** The form of a query; the example without one. Other parameters, such as a campaign's, are ignored. */
function formOf(query: unknown): UsageForm {
  const given = query as Partial<Record<keyof UsageForm, unknown>>;
  const names = Object.keys(EXAMPLE_USAGE) as (keyof UsageForm)[];
  if (!names.some((name) => given[name] !== undefined)) return EXAMPLE_USAGE;
  const form = names.map((name) => {
    const value = given[name];
    return [name, typeof value === 'string' ? value.slice(0, LONGEST_VALUE + 1) : ''] as const;
  });
  return Object.fromEntries(form) as unknown as UsageForm;
}

/** `/migrate`: the cost estimator. */
export function migratePages(
  app: RestApp,
  { migration }: Pick<Services, 'migration'>,
  { site, plansOf }: { site: SiteContext; plansOf(request: FastifyRequest): Promise<readonly PlanLimits[]> },
): void {
  // Not cached: queries are free text.
  show(app, '/migrate', reads({ auth: 'none', headers: 'page' }), async (request, reply) => {
    const form = formOf(request.query);
    const { usage, faults } = readForm(form);
    const plans = await plansOf(request);
    const basis: MigrateBasis = { ...migration.basis(), plans };
    const result = (): string | undefined => {
      if (!usage) return undefined;
      const { peakPerMinute, ...input } = usage;
      return estimateView(migration.estimate(estimateInput.parse(input)), plans, peakPerMinute);
    };
    const page = migratePage({ form, faults, result: result(), basis, script: site.assets?.migrate });
    return reply
      .header('cache-control', 'public, max-age=300')
      .type('text/html; charset=utf-8')
      .send(sitePage(page, site));
  });
}
