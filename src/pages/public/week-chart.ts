import type { ModelHourOutput } from '../../services/leaderboard/leaderboard.outputs.js';
import { integer, milliseconds, percent, timeOf } from './html.js';
import { barsOf, latenciesOf, lineOf } from './sparkline.js';

const AREA = { width: 1008, height: 120 };
/** Below the area, for the names of the days. */
const LABELS = 20;
const HOURS_PER_DAY = 24;
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });

/** A round number that is no less, of two digits at most. */
function roundEnd(value: number): number {
  if (value <= 10) return Math.max(2, value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

function dayNames(hours: readonly ModelHourOutput[]): string {
  const each = AREA.width / hours.length;
  const midnights = hours.flatMap(({ hour }, i) => (hour.slice(11, 13) === '00' ? [[i, hour] as const] : []));
  return midnights
    .filter(([i]) => i <= hours.length - HOURS_PER_DAY / 2)
    .map(
      ([i, hour]) =>
        `<path class="grid" d="M${i * each} 0v${AREA.height}"/><text x="${i * each + 4}" y="${AREA.height + 14}">${DAY.format(new Date(hour))}</text>`,
    )
    .join('');
}

function figure(name: string, marks: string, end: string, hours: readonly ModelHourOutput[]): string {
  const { width, height } = AREA;
  return `<figure class="chart"><figcaption>${name}</figcaption>
<svg viewBox="0 0 ${width} ${height + LABELS}" role="img" aria-label="${name}, highest ${end}"><path class="grid" d="M0 0h${width}M0 ${height / 2}h${width}"/>${dayNames(hours)}<path class="axis" d="M0 ${height}h${width}"/>${marks}<text class="end" x="4" y="12">${end}</text></svg></figure>`;
}

const hourRow = (hour: ModelHourOutput): string =>
  `<tr><th scope="row">${timeOf(hour.hour)}</th><td>${integer(hour.requests)}</td><td>${hour.requests === 0 ? '–' : percent(hour.errors / hour.requests)}</td><td>${hour.requests === hour.errors ? '–' : milliseconds(hour.p50_latency_ms)}</td><td>${hour.requests === hour.errors ? '–' : milliseconds(hour.p95_latency_ms)}</td></tr>`;

function asTable(hours: readonly ModelHourOutput[]): string {
  const called = hours.filter(({ requests }) => requests > 0).toReversed();
  if (called.length === 0) return '';
  return `<details><summary>Show as table</summary>
<div class="table" tabindex="0" role="region" aria-label="Hours with calls"><table class="listing figures"><thead><tr><th scope="col">Hour</th><th scope="col">Calls</th><th scope="col">Errors</th><th scope="col">Median latency</th><th scope="col">95th percentile</th></tr></thead><tbody>${called.map(hourRow).join('\n')}</tbody></table></div></details>`;
}

/** Each of the last 168 hours: calls with the errors among them, and the 95th percentile of latency. */
export function weekChart(hours: readonly ModelHourOutput[]): string {
  const calls = hours.map(({ requests }) => requests);
  const most = roundEnd(Math.max(0, ...calls));
  // Drawn over the bars of all calls at the same scale: the highest is added beyond the edge.
  const scaled = (amounts: readonly number[], className: string): string =>
    barsOf(
      [...amounts, most],
      { width: AREA.width * (1 + 1 / hours.length), height: AREA.height },
      className,
    );
  const latencies = latenciesOf(hours);
  const slowest = roundEnd(Math.max(0, ...latencies.map((value) => value ?? 0)));
  const errors = hours.map((hour) => hour.errors);
  return `${figure('Calls per hour, errors in red', scaled(calls, 'bars') + scaled(errors, 'errors'), `${integer(most)} calls`, hours)}
${figure('95th percentile of latency per hour', lineOf(latencies, AREA, slowest), milliseconds(slowest), hours)}
${asTable(hours)}`;
}
