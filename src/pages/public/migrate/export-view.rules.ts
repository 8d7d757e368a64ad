import { escaped } from '../../../lib/html.js';
import { formatMoney, parseMoney } from '../../../lib/money.js';
import { estimateOf, type Here, savingsPct, scaled } from '../../../services/migration/estimate.rules.js';
import { formatInteger, listing, modelLink, money, tiles } from '../html.js';
import { planAdvice, savings } from './estimate-view.rules.js';
import type { PlanLimits } from './plan-advice.rules.js';
import type { ExportedModel, UsageExport } from './usage-export.rules.js';

const DAYS = 30;
const DAY_MINUTES = 1_440;
/** Assumed ratio of a day's busiest minute to its mean. */
const PEAK_OVER_MEAN = 5;

/** `1 model`, `12 models`. */
const counted = (count: number, thing: string): string =>
  `${formatInteger(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A count over the days of the export, scaled to 30 days. */
const monthly = (count: number, days: number): number =>
  Number(scaled(BigInt(count), BigInt(DAYS), BigInt(days)));

function lengthOf(minutes: number): string {
  if (minutes < DAY_MINUTES) return `${formatInteger(minutes)} minutes`;
  const days = Math.floor(minutes / DAY_MINUTES);
  return days === 1 ? 'day' : counted(days, 'day');
}

function peakOf({ busiest }: UsageExport): { perMinute: number | undefined; html: string } {
  if (!busiest) return { perMinute: undefined, html: '' };
  const { requests, minutes } = busiest;
  if (minutes <= 1)
    return {
      perMinute: requests,
      html: `<p>Your busiest minute had ${formatInteger(requests)} requests.</p>`,
    };
  const mean = Math.ceil(requests / minutes);
  const perMinute = mean * PEAK_OVER_MEAN;
  const time = lengthOf(minutes);
  return {
    perMinute,
    html: `<p>Your busiest ${time} had ${formatInteger(requests)} requests, ${formatInteger(mean)} a minute on average. Within it, peaks are higher: we assume ${PEAK_OVER_MEAN} times the average, ${formatInteger(perMinute)} a minute.</p>`,
  };
}

function estimates(usage: UsageExport, here: Here) {
  return usage.models.map((one: ExportedModel) => {
    const input = monthly(one.input, usage.days);
    const estimate = estimateOf(
      {
        legacy_provider: usage.provider,
        legacy_model: one.model,
        input_tokens_30d: input,
        output_tokens_30d: monthly(one.output, usage.days),
        cached_input_tokens_30d: Math.min(input, monthly(one.cached, usage.days)),
      },
      here,
    );
    return { one, estimate };
  });
}

/** The cost of all models of an export today and here. */
export function exportView(usage: UsageExport, here: Here, plans: readonly PlanLimits[]): string {
  const rows = estimates(usage, here);
  const sum = (name: 'legacy_cost_usd_30d' | 'pr_cost_usd_30d'): bigint =>
    rows.reduce((total, { estimate }) => total + parseMoney(estimate[name]), 0n);
  const costs = { legacy: sum('legacy_cost_usd_30d'), own: sum('pr_cost_usd_30d') };
  const guessed = rows.filter(({ estimate }) => estimate.approximate).map(({ one }) => one.model);
  const peak = peakOf(usage);
  const models = [...new Set(rows.map(({ estimate }) => estimate.recommended_pr_model))];
  const scale = usage.days === DAYS ? '' : ` of ${counted(usage.days, 'day')}, scaled to ${DAYS}`;
  // Some exports date a whole month by its first day.
  const remedy = usage.days === 1 ? ' Do they cover more? Remove the dates.' : '';
  return `${tiles([
    ['Today, for 30 days', money(formatMoney(costs.legacy)), counted(rows.length, 'model')],
    ['Here', money(formatMoney(costs.own))],
    savings(formatMoney(costs.legacy - costs.own), savingsPct(costs)),
  ])}
<p>Computed from the tokens${scale}.${remedy} Tokenizers differ: the same text may take up to a third fewer or more tokens here.${guessed.length === 0 ? '' : ` We don’t know ${escaped(guessed.slice(0, 5).join(', '))}${guessed.length > 5 ? ` and ${guessed.length - 5} others` : ''}: the price of the most similar model is used.`}</p>
${peak.html}
${planAdvice(plans, models, peak.perMinute)}
${listing(
  'Costs by model',
  [
    { head: 'Model' },
    { head: 'Input tokens', figures: true },
    { head: 'Output tokens', figures: true },
    { head: 'Today', figures: true },
    { head: 'Model here' },
    { head: 'Here', figures: true },
  ],
  rows.map(({ one, estimate }) => [
    escaped(one.model),
    formatInteger(one.input),
    formatInteger(one.output),
    money(estimate.legacy_cost_usd_30d),
    modelLink(estimate.recommended_pr_model),
    money(estimate.pr_cost_usd_30d),
  ]),
)}`;
}
