import { DAY_MS, dayStart } from '../../lib/clock.js';
import { localTimes } from '../../lib/local-times.js';
import { formatMoney, type Money, parseMoney } from '../../lib/money.js';
import type { UsageSeriesPointOutput } from './analytics.outputs.js';
import type { HourAndModel } from './usage-sums.store.js';

interface Series {
  unit: 'hour' | 'day';
  timeZone: string;
  windowDays: number;
  /** Milliseconds. */
  now: number;
}

/** The UTC midnights that enclose all hours of the window in any time zone. */
export const seriesBounds = ({ windowDays, now }: Pick<Series, 'windowDays' | 'now'>) => ({
  from: new Date(dayStart(now) - windowDays * DAY_MS),
  until: new Date(dayStart(now) + DAY_MS),
});

type Sum = Omit<UsageSeriesPointOutput, 'cost_usd'> & { cost: Money };

/** Hours as hours or days of a time zone; an hour counts for the day in which it begins. */
export function seriesOf(
  hours: readonly HourAndModel[],
  { unit, timeZone, windowDays, now }: Series,
): UsageSeriesPointOutput[] {
  const timeOf = localTimes(timeZone);
  const today = Date.parse(timeOf(now).slice(0, 10));
  const first = new Date(today - (windowDays - 1) * DAY_MS).toISOString().slice(0, 10);
  const sums = new Map<string, Sum>();
  for (const row of hours) {
    const hour = timeOf(row.hour_ms);
    if (hour < first) continue;
    const start = unit === 'day' ? hour.slice(0, 10) : hour;
    const sum = sums.get(`${start} ${row.model}`) ?? emptySum(start, row.model);
    sum.requests += row.requests;
    sum.errors += row.errors;
    sum.tokens_in += row.input_tokens;
    sum.tokens_out += row.output_tokens;
    sum.cost += parseMoney(row.cost);
    sums.set(`${start} ${row.model}`, sum);
  }
  return [...sums.values()].map(({ cost, ...sum }) => ({ ...sum, cost_usd: formatMoney(cost) }));
}

const emptySum = (start: string, model: string): Sum => ({
  start,
  model_public_name: model,
  requests: 0,
  errors: 0,
  tokens_in: 0,
  tokens_out: 0,
  cost: 0n,
});
