import { escaped } from '../../lib/html.js';
import type { ModelOutput } from '../../services/billing/billing.outputs.js';
import type { LeaderboardModelOutput } from '../../services/leaderboard/leaderboard.outputs.js';
import type { CodeSnippetsOutput } from '../../services/migration/migration.outputs.js';
import type { SitePage } from '../site.js';
import {
  formatInteger,
  milliseconds,
  modelPath,
  money,
  percent,
  simulatedNote,
  snippet,
  tiles,
  timeOf,
  tokensPerSecond,
} from './html.js';
import { priceTable } from './prices.js';
import { weekChart } from './week-chart.js';

export interface ModelFacts {
  windowDays: number;
  model: LeaderboardModelOutput;
  models: readonly ModelOutput[];
  /** Names of the plans that allow it, cheapest first. */
  plans: readonly string[];
  snippets: CodeSnippetsOutput;
  leastAccounts: number;
  simulated: readonly string[];
  baseUrl: string;
}

function figures({ model, windowDays, leastAccounts }: ModelFacts): string {
  const accounts = leastAccounts > 1 ? ` from at least ${leastAccounts} accounts` : '';
  const why = `<p>Not ranked: ranked models have at least 100 calls${accounts} in the last ${windowDays} days.</p>`;
  if (model.requests === 0) return why;
  const shared = model.rank_tied ? 'shared' : undefined;
  // Latencies are those of successful calls.
  const isSilent = model.success_rate === 0;
  return `${model.insufficient_data ? why : ''}${tiles([
    ['Rank', model.rank === null ? '–' : String(model.rank), shared],
    [
      'Success rate',
      percent(model.success_rate),
      `${percent(model.success_rate_low)} to ${percent(model.success_rate_high)}`,
    ],
    [
      'Latency, p95',
      milliseconds(isSilent ? null : model.p95_latency_ms),
      isSilent ? undefined : `${formatInteger(model.p95_low_ms)} to ${formatInteger(model.p95_high_ms)} ms`,
    ],
    ['Latency, median', milliseconds(isSilent ? null : model.p50_latency_ms)],
    ['Time to first token, median', milliseconds(model.p50_ttft_ms)],
    ['Output tokens per second', tokensPerSecond(model.output_tokens_per_second)],
    ['Calls', formatInteger(model.requests), model.one_account_dominates ? 'mostly one account' : undefined],
    ['No node available', percent(model.rate_limited_share)],
  ] as [string, string, string?][])}
<p class="aside">Small figures are 95% confidence intervals. <a href="/api/leaderboard/${escaped(model.model_public_name)}/row?window_days=${windowDays}" download="${escaped(model.model_public_name.replaceAll('/', '-'))}.json">Download counts and sketches</a></p>`;
}

function facts({ model, plans }: ModelFacts): string {
  const rows = [
    ['Family', escaped(model.family)],
    ['Context window', `${formatInteger(model.context_window)} tokens`],
    ['Input, per 1M tokens', money(model.input_price_per_million_usd)],
    ['Output, per 1M tokens', model.family === 'embedding' ? '–' : money(model.output_price_per_million_usd)],
    ['Plans', escaped(plans.join(', '))],
  ];
  return `<table class="facts-table"><tbody>${rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join('')}</tbody></table>`;
}

/** Other models, those of its family first. */
const related = ({ model, models }: ModelFacts): readonly ModelOutput[] =>
  models
    .filter((one) => one.model_public_name !== model.model_public_name)
    .toSorted((a, b) => Number(b.family === model.family) - Number(a.family === model.family))
    .slice(0, 3);

const breadcrumb = ({ model, baseUrl }: ModelFacts): object => ({
  '@type': 'BreadcrumbList',
  itemListElement: [
    { '@type': 'ListItem', position: 1, name: 'Leaderboard', item: `${baseUrl}/leaderboard` },
    {
      '@type': 'ListItem',
      position: 2,
      name: model.model_public_name,
      item: baseUrl + modelPath(model.model_public_name),
    },
  ],
});

/** `/leaderboard/{slug}`: one model with its figures, its last 168 hours, its price and a first call. */
export function modelPage(given: ModelFacts): SitePage {
  const { model, windowDays, snippets } = given;
  const name = model.model_public_name;
  const path = modelPath(name);
  const windows = [7, 30].map(
    (days) =>
      `<a href="${path}?window_days=${days}"${days === windowDays ? ' aria-current="true"' : ''}>${days} days</a>`,
  );
  const prices = `$${Number(model.input_price_per_million_usd)} per million input tokens and $${Number(model.output_price_per_million_usd)} per million output tokens`;
  return {
    path,
    title: name,
    description: `${name}: success rate, latency and hourly figures of the last 7 days, a context of ${formatInteger(model.context_window)} tokens, ${prices}, and the code of a first call.`,
    about: { '@type': 'WebPage', dateModified: model.generated_at, breadcrumb: breadcrumb(given) },
    wide: true,
    opening: `<p class="crumb"><a href="/leaderboard">Leaderboard</a></p><h1>${escaped(name)}</h1>`,
    main: `<div class="toolbar"><nav class="choice" aria-label="Window">${windows.join('')}</nav><span class="aside">As of ${timeOf(model.generated_at)}</span></div>
${simulatedNote(given.simulated.includes(name) ? [name] : [])}
${figures(given)}
<section><h2>Last 168 hours</h2>
${weekChart(model.hourly_breakdown)}
<p class="aside">Hours and days are UTC.</p></section>
<section><h2>Price and limits</h2>
${facts(given)}</section>
<section><h2>Call it</h2>
<div class="columns">${snippet('curl', snippets.curl)}
${snippet('Node.js', snippets.node)}
${snippet('Python', snippets.python)}</div>
<p><a href="/signup">Create an account</a> to get a key.</p></section>
<section><h2>Other models</h2>
${priceTable(related(given))}
<p><a href="/pricing">How a call is charged</a></p></section>`,
  };
}
