import { escaped } from '../../../lib/html.js';
import { roundedDollars } from '../../../lib/rounded-dollars.js';
import type { EstimateOutput } from '../../../services/migration/migration.outputs.js';
import { formatInteger, modelLink, money, snippet, tiles } from '../html.js';
import { type PlanLimits, planFor } from './plan-advice.rules.js';

const planName = ({ name, monthly_price_usd, requests_per_minute }: PlanLimits): string =>
  `<strong>${escaped(name)}</strong> plan (${money(monthly_price_usd)} a month, ${formatInteger(requests_per_minute)} requests per minute)`;

/** The plan that a peak needs. */
export function planAdvice(
  plans: readonly PlanLimits[],
  models: readonly string[],
  peakPerMinute: number | undefined,
): string {
  const least = planFor(plans, models, 0);
  if (peakPerMinute === undefined)
    return least
      ? `<p>You need at least the ${planName(least)}. Enter your peak of requests per minute to see whether its limit is enough.</p>`
      : '';
  const plan = planFor(plans, models, peakPerMinute);
  return plan
    ? `<p>A peak of ${formatInteger(peakPerMinute)} requests per minute needs the ${planName(plan)}.</p>`
    : `<p>A peak of ${formatInteger(peakPerMinute)} requests per minute is above the limit of every plan (${formatInteger(Math.max(...plans.map((one) => one.requests_per_minute)))}). Spread the calls, or ask the administrator of this installation.</p>`;
}

/** The savings, or the extra cost. */
export function savings(saved: string, percentage: number): readonly [string, string, string] {
  const isDearer = saved.startsWith('-');
  return [
    isDearer ? 'More per month here' : 'Saved per month',
    money(isDearer ? saved.slice(1) : saved),
    `${Math.abs(percentage)}% ${isDearer ? 'more' : 'less'}`,
  ];
}

/** Shown in place of the estimate if the form has faults. */
export const FAULTY = '<p>Correct the marked fields to see the estimate.</p>';

/** The form has its own label for this field. */
const FIELD = ' (cached_input_tokens_30d)';

/** Both costs, the savings, the reason for the model, and the code of a first call. */
export function estimateView(
  estimate: EstimateOutput,
  plans: readonly PlanLimits[],
  peakPerMinute: number | undefined,
): string {
  const { recommended_pr_model: own, code_snippets: snippets } = estimate;
  return `${tiles([
    [`Today, ${estimate.priced_as}`, money(estimate.legacy_cost_usd_30d), 'for 30 days'],
    [
      `Here, ${own}`,
      money(estimate.pr_cost_usd_30d),
      `${roundedDollars(Number(estimate.pr_cost_low_usd_30d))} to ${roundedDollars(Number(estimate.pr_cost_high_usd_30d))}`,
    ],
    savings(estimate.monthly_savings_usd, estimate.savings_pct),
  ])}
<ul>
${estimate.warnings.map((warning) => `<li>${escaped(warning.replace(FIELD, ''))}</li>`).join('\n')}
<li>An approximation from list prices. That of ${escaped(estimate.priced_as)} was read on ${estimate.price_read_on} from <a href="${escaped(estimate.price_source)}" rel="noopener">${escaped(new URL(estimate.price_source).host)}</a>.</li>
</ul>
<p>${modelLink(own)} is the model of this gateway closest to ${escaped(estimate.priced_as)}. Compare their answers on your own prompts before you switch.</p>
${planAdvice(plans, [own], peakPerMinute)}
<h2>Your first call</h2>
<div class="columns">${snippet('curl', snippets.curl)}
${snippet('Node.js', snippets.node)}
${snippet('Python', snippets.python)}</div>`;
}
