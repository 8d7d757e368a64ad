import { escaped } from '../../lib/html.js';
import type { StatusOutput } from '../../services/leaderboard/status.outputs.js';
import type { SitePage } from '../site.js';
import { formatInteger, listing, milliseconds, modelLink, percent, simulatedNote, timeOf } from './html.js';

type ModelStatus = StatusOutput['models'][number];
type Day = ModelStatus['days'][number];

const STATES: Record<ModelStatus['state'], string> = {
  operational: 'Operational',
  degraded: 'Degraded',
  no_data: 'No recent calls',
};

/** Shares of successful calls from which a day is good, and from which it is fair. */
const WELL = 0.99;
const FAIR = 0.95;
const BAR = { width: 5, gap: 2, height: 28 };

function look({ success_rate: rate }: Day): string {
  if (rate === null) return 'none';
  if (rate >= WELL) return 'well';
  return rate >= FAIR ? 'fair' : 'bad';
}

/** A day as a bar. Worse days are also shorter, so that colour isn't the only difference. */
const HEIGHTS: Record<string, number> = { none: 4, well: BAR.height, fair: 20, bad: 12 };

function bars({ model_public_name: name, days, success_rate: rate }: ModelStatus): string {
  const each = BAR.width + BAR.gap;
  const byLook = Object.entries(
    Object.groupBy(
      days.map((day, at) => ({ at, look: look(day) })),
      (day) => day.look,
    ),
  );
  const paths = byLook.map(([kind, some]) => {
    const tall = HEIGHTS[kind]!;
    const d = some!.map(({ at }) => `M${at * each} ${BAR.height}v-${tall}h${BAR.width}v${tall}z`).join('');
    return `<path class="${kind}" d="${d}"/>`;
  });
  const words = rate === null ? 'no calls' : `${percent(rate)} of calls succeeded`;
  const width = days.length * each - BAR.gap;
  return `<svg class="uptime" viewBox="0 0 ${width} ${BAR.height}" preserveAspectRatio="none" role="img" aria-label="${escaped(`${name}, last ${days.length} days: ${words}`)}">${paths.join('')}</svg>`;
}

function daysTable({ model_public_name: name, days }: ModelStatus): string {
  const called = days.filter(({ success_rate: rate }) => rate !== null).toReversed();
  if (called.length === 0) return '';
  const table = listing(
    `Days of ${name}`,
    [
      { head: 'Day, UTC' },
      { head: 'Success rate', figures: true },
      { head: 'Latency, p95', figures: true },
      { head: 'Calls', figures: true },
    ],
    called.map((day) => [
      day.date,
      percent(day.success_rate!),
      milliseconds(day.p95_latency_ms),
      formatInteger(day.requests),
    ]),
  );
  return `<details><summary>Figures by day</summary>${table}</details>`;
}

const modelSection = (model: ModelStatus, isLate: boolean): string => `<section class="availability">
<h2>${modelLink(model.model_public_name)}<span class="state" data-state="${model.state}">${isLate ? 'Not known' : STATES[model.state]}</span></h2>
${bars(model)}
<p class="aside"><span>${model.days.length - 1} days ago</span><span>${model.success_rate === null ? 'No calls' : `${percent(model.success_rate)} of calls succeeded`}</span><span>Today</span></p>
${daysTable(model)}
</section>`;

function incidents({ incidents: found }: StatusOutput): string {
  if (found.length === 0) return '<p>No incidents in the last 90 days.</p>';
  return listing(
    'Incidents',
    [
      { head: 'Model' },
      { head: 'From' },
      { head: 'Until' },
      { head: 'Failed', figures: true },
      { head: 'Calls', figures: true },
    ],
    found.map((one) => [
      modelLink(one.model_public_name),
      timeOf(one.started_at),
      timeOf(one.ended_at),
      percent(one.errors / one.requests),
      formatInteger(one.requests),
    ]),
  );
}

function summary({ models, is_late: isLate }: StatusOutput): string {
  if (isLate) return 'The figures are late: how the models are doing now is not known.';
  const degraded = models.filter(({ state }) => state === 'degraded');
  if (degraded.length > 0)
    return `Degraded: ${degraded.map((model) => modelLink(model.model_public_name)).join(', ')}.`;
  return models.every(({ state }) => state === 'no_data')
    ? 'No calls in the last 24 hours.'
    : 'All models that were called in the last 24 hours are operational.';
}

const asOf = ({ generated_at, is_late: isLate }: StatusOutput): string =>
  isLate
    ? `As of ${timeOf(generated_at)}. Later calls aren’t counted yet.`
    : `As of ${timeOf(generated_at)}, updated after each hour.`;

const quietHours = (leastAccounts: number): string =>
  leastAccounts > 1
    ? ` An hour in which fewer than ${leastAccounts} accounts called a model can’t be an incident. It counts only together with other such hours of the same day.`
    : '';

/** `/status`: availability of each model, measured on real calls. */
export function statusPage(
  status: StatusOutput,
  { leastAccounts, simulated }: { leastAccounts: number; simulated: readonly string[] },
): SitePage {
  return {
    path: '/status',
    title: 'Status',
    description:
      'Availability of every model over the last 90 days, computed from the API calls themselves: success rate, latency and incidents.',
    main: `<p class="lead">${summary(status)}</p>
<p class="aside">${asOf(status)}</p>
${simulatedNote(simulated)}
${status.models.map((model) => modelSection(model, status.is_late)).join('\n')}
<section><h2>Incidents</h2>
${incidents(status)}</section>
<section><h2>How this is computed</h2>
<p>Every figure is computed from the calls of all accounts. An incident is a run of hours in which more than 5% of at least 20 calls to a model failed.${quietHours(leastAccounts)}</p>
<p>Calls that their callers ended within 30 seconds, and requests that a node rejected with 400, 413 or 422, say nothing about a model and aren’t counted.</p>
<p><a href="/docs/api#getStatus">The same figures as JSON</a></p></section>`,
  };
}
