import { localTimes } from '../../../../src/lib/local-times';
import { formatMoney, parseMoney } from '../../../../src/lib/money';
import type { SeriesPointFragment } from '../../../generated/graphql';
import { counted, formatDay, shortCount, shortDollars } from '../../ui/format';
import { moneyText } from '../../ui/money-text';

export const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'errors', label: 'Errors' },
] as const;
export type Measure = (typeof MEASURES)[number]['value'];

/** Sums of the calls of a time or model. Money is exact. */
export interface Sums {
  requests: number;
  errors: number;
  tokens: number;
  costUsd: string;
}

export function sumOf(points: readonly SeriesPointFragment[]): Sums {
  let cost = 0n;
  const sums = { requests: 0, errors: 0, tokens: 0 };
  for (const point of points) {
    sums.requests += point.requests;
    sums.errors += point.errors;
    sums.tokens += point.tokensIn + point.tokensOut;
    cost += parseMoney(point.costUsd);
  }
  return { ...sums, costUsd: formatMoney(cost) };
}

/** A measure as a float, for lengths and heights only. */
export const amountOf = (sums: Sums, measure: Measure): number =>
  measure === 'cost' ? Number(sums.costUsd) : sums[measure];

/** A value in few characters, for an axis or a label. */
export const shortValue = (value: number, measure: Measure): string =>
  measure === 'cost' ? shortDollars(value) : shortCount(value);

export type ModelSums = Sums & { model: string };

/** Every model with calls, sorted by a measure, largest first. */
export function modelsBy(points: readonly SeriesPointFragment[], measure: Measure): ModelSums[] {
  const models = [...Map.groupBy(points, ({ modelPublicName }) => modelPublicName)].map(([model, own]) => ({
    model,
    ...sumOf(own),
  }));
  return models.sort(
    (a, b) =>
      amountOf(b, measure) - amountOf(a, measure) || b.requests - a.requests || (a.model < b.model ? -1 : 1),
  );
}

/** The most series of a chart; the last one sums up the others. */
const MOST_SERIES = 4;
export const OTHERS = 'other models';

/** The models that get a series of their own. */
export function seriesNames(models: readonly ModelSums[]): string[] {
  const names = models.map(({ model }) => model);
  return names.length <= MOST_SERIES ? names : [...names.slice(0, MOST_SERIES - 1), OTHERS];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Every hour of today, or every day of the window, oldest first, on the clock of a time zone. */
export function startsOf(windowDays: number, timeZone: string, now: number): string[] {
  const timeOf = localTimes(timeZone);
  const today = timeOf(now).slice(0, 10);
  if (windowDays === 1) {
    // Hours are UTC hours: in India they begin at half past.
    const minutes = timeOf(now - (now % HOUR_MS)).slice(14);
    return Array.from({ length: 24 }, (_, hour) => `${today}T${String(hour).padStart(2, '0')}:${minutes}`);
  }
  return Array.from({ length: windowDays }, (_, index) =>
    new Date(Date.parse(today) - (windowDays - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** `21 Nov`, `13:00` */
export const startName = (start: string): string =>
  start.includes('T') ? start.slice(11) : formatDay(start);

/** A sum in words, exact: `$0.25, 2 requests, 3,000 tokens, 0 errors`. */
export const sumWords = ({ costUsd, requests, tokens, errors }: Sums): string =>
  [moneyText(costUsd), counted(requests, 'request'), counted(tokens, 'token'), counted(errors, 'error')].join(
    ', ',
  );
