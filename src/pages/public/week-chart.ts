import type { ModelHourOutput } from '../../services/leaderboard/leaderboard.outputs.js';
import { formatInteger, milliseconds, percent, timeOf } from './html.js';
import { barsOf, latenciesOf, lineOf } from './sparkline.js';

const AREA = { width: 1008, height: 120 };
const HOURS_PER_DAY = 24;
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });

/** The next larger number with at most two significant digits. */
function roundEnd(value: number): number {
  if (value <= 10) return Math.max(2, value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** Hours at which a day begins, except one that has only just begun. */
const midnightsOf = (hours: readonly ModelHourOutput[]): number[] =>
  hours.flatMap(({ hour }, i) =>
    hour.slice(11, 13) === '00' && i <= hours.length - HOURS_PER_DAY / 2 ? [i] : [],
  );

/**
 * The marks stretch to the width of the page; labels are in a separate drawing, which doesn't. `end` is the value of
 * the top line; undefined if there is nothing to draw.
 */
function figure(
  name: string,
  marks: string,
  end: string | undefined,
  hours: readonly ModelHourOutput[],
): string {
  const { width, height } = AREA;
  const each = width / hours.length;
  const midnights = midnightsOf(hours);
  const lines = midnights.map((i) => `M${i * each} 0v${height}`).join('');
  const days = midnights.map(
    (i) =>
      `<text x="${((i / hours.length) * 100).toFixed(2)}%" y="14">${DAY.format(new Date(hours[i]!.hour))}</text>`,
  );
  return `<figure class="chart"><figcaption>${name}. ${end === undefined ? 'No calls yet' : `Top line: ${end}`}</figcaption>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${name}, ${end === undefined ? 'no calls yet' : `up to ${end}`}"><path class="grid" d="M0 0h${width}M0 ${height / 2}h${width}${lines}"/><path class="axis" d="M0 ${height}h${width}"/>${marks}</svg>
<svg class="days" width="100%" height="20" aria-hidden="true">${days.join('')}</svg></figure>`;
}

const hourRow = (hour: ModelHourOutput): string =>
  `<tr><th scope="row">${timeOf(hour.hour)}</th><td>${formatInteger(hour.requests)}</td><td>${hour.requests === 0 ? '–' : percent(hour.errors / hour.requests)}</td><td>${hour.requests === hour.errors ? '–' : milliseconds(hour.p50_latency_ms)}</td><td>${hour.requests === hour.errors ? '–' : milliseconds(hour.p95_latency_ms)}</td></tr>`;

function asTable(hours: readonly ModelHourOutput[]): string {
  const called = hours.filter(({ requests }) => requests > 0).toReversed();
  if (called.length === 0) return '';
  return `<details><summary>Show as table</summary>
<section class="table" tabindex="0" aria-label="Hours with calls"><table class="listing figures"><thead><tr><th scope="col">Hour</th><th scope="col">Calls</th><th scope="col">Errors</th><th scope="col">Median latency</th><th scope="col">95th percentile</th></tr></thead><tbody>${called.map(hourRow).join('\n')}</tbody></table></section></details>`;
}

/** The last 168 hours: calls with the errors among them, and the 95th percentile of latency. */
export function weekChart(hours: readonly ModelHourOutput[]): string {
  const calls = hours.map(({ requests }) => requests);
  const isEmpty = calls.every((requests) => requests === 0);
  const most = roundEnd(Math.max(0, ...calls));
  const drawn = (amounts: readonly number[], className: string): string =>
    barsOf(amounts, AREA, { className, highest: most });
  const latencies = latenciesOf(hours);
  const slowest = roundEnd(Math.max(0, ...latencies.map((value) => value ?? 0)));
  const errors = hours.map((hour) => hour.errors);
  return `${figure('Calls per hour, errors in red', drawn(calls, 'bars') + drawn(errors, 'errors'), isEmpty ? undefined : `${formatInteger(most)} calls`, hours)}
${figure('95th percentile of latency per hour', lineOf(latencies, AREA, slowest), isEmpty ? undefined : milliseconds(slowest), hours)}
${asTable(hours)}`;
}
