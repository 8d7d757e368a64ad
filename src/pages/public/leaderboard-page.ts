import { escaped } from '../../lib/html.js';
import type { LeaderboardInput } from '../../services/leaderboard/leaderboard.inputs.js';
import type {
  LeaderboardEntryOutput,
  LeaderboardModelOutput,
  LeaderboardOutput,
} from '../../services/leaderboard/leaderboard.outputs.js';
import type { SitePage } from '../site.js';
import {
  type Column,
  formatInteger,
  listing,
  milliseconds,
  modelLink,
  money,
  percent,
  simulatedNote,
  timeOf,
  tokensPerSecond,
} from './html.js';
import { sparkline } from './sparkline.js';

export interface BoardFacts {
  input: LeaderboardInput;
  board: LeaderboardOutput;
  /** The ranked models with their hours. */
  models: readonly LeaderboardModelOutput[];
  /** Number of accounts that must have used a model before it is shown. */
  leastAccounts: number;
  simulated: readonly string[];
}

const addressOf = ({ window_days, sort_by }: LeaderboardInput): string =>
  `/leaderboard?window_days=${window_days}&amp;sort_by=${sort_by}`;

const DIRECTIONS: Record<LeaderboardInput['sort_by'], 'ascending' | 'descending'> = {
  ranking_score: 'descending',
  p95_latency: 'ascending',
  cost: 'ascending',
  throughput: 'descending',
};

/** Heading of a sortable column: a link, so that it works without scripts. */
function sortable(
  input: LeaderboardInput,
  sortBy: LeaderboardInput['sort_by'],
  head: string,
  tip = '',
): Column {
  const isCurrent = input.sort_by === sortBy;
  return {
    head: `<a href="${addressOf({ ...input, sort_by: sortBy })}">${head}</a>${tip}`,
    figures: true,
    sorted: isCurrent ? DIRECTIONS[sortBy] : undefined,
  };
}

const FORMULA =
  'Score = 0.40 × success rate + 0.30 × (1 − p95 latency) + 0.30 × (1 − output price). Each part is scaled from 0 to 1 over the ranked models.';

/**
 * A tooltip for every kind of pointer: shown by a click, a touch or the keyboard, and by the browser itself on hover.
 */
const formulaTip = `<button type="button" class="tip" popovertarget="formula" title="${FORMULA}" aria-label="How the score is computed">?</button>`;
const formulaText = `<p id="formula" popover>${FORMULA}</p>`;

const columnsOf = (input: LeaderboardInput): Column[] => [
  { head: 'Model' },
  { head: 'Rank', figures: true },
  sortable(input, 'ranking_score', 'Score', formulaTip),
  { head: 'Success rate', figures: true },
  sortable(input, 'p95_latency', 'Latency, p95'),
  { head: 'Time to first token, median', figures: true },
  sortable(input, 'throughput', 'Tokens per second'),
  sortable(input, 'cost', 'Output, per 1M tokens'),
  { head: 'No node available', figures: true },
  { head: 'Tokens in and out, median', figures: true },
  { head: 'Calls', figures: true },
  { head: 'Last 7 days' },
];

const small = (text: string): string => `<small>${text}</small>`;

/** The rank, and whether other models share it. */
export const rankOf = ({ rank, rank_tied }: LeaderboardEntryOutput): string =>
  rank === null ? '–' : `${rank}${rank_tied ? small('shared') : ''}`;

function rowOf(entry: LeaderboardEntryOutput, model: LeaderboardModelOutput | undefined): string[] {
  const name = entry.model_public_name;
  return [
    `${modelLink(name)}${entry.is_featured ? small('featured') : ''}${entry.one_account_dominates ? small('mostly one account') : ''}`,
    rankOf(entry),
    entry.ranking_score!.toFixed(3),
    `${percent(entry.success_rate)}${small(`${percent(entry.success_rate_low)} to ${percent(entry.success_rate_high)}`)}`,
    entry.success_rate === 0
      ? '–'
      : `${milliseconds(entry.p95_latency_ms)}${small(`${formatInteger(entry.p95_low_ms)} to ${formatInteger(entry.p95_high_ms)}`)}`,
    milliseconds(entry.p50_ttft_ms),
    tokensPerSecond(entry.output_tokens_per_second),
    money(entry.output_price_per_million_usd),
    percent(entry.rate_limited_share),
    `${entry.median_tokens_in === null ? '–' : formatInteger(entry.median_tokens_in)} / ${entry.median_tokens_out === null ? '–' : formatInteger(entry.median_tokens_out)}`,
    formatInteger(entry.requests),
    model ? sparkline(name, model.hourly_breakdown) : '',
  ];
}

/** The conditions for ranking a model. */
const enough = ({ leastAccounts, board: { window_days: days } }: BoardFacts): string =>
  `at least 100 calls${leastAccounts > 1 ? ` from at least ${leastAccounts} accounts` : ''} in the last ${days} days`;

function ranked(facts: BoardFacts): string {
  const { input, board, models } = facts;
  if (board.entries.length === 0)
    return `<p>No model is ranked yet. A model appears here once it has ${enough(facts)}. Calls are counted after each hour.</p>`;
  const byName = new Map(models.map((model) => [model.model_public_name, model]));
  const rows = board.entries.map((entry) => rowOf(entry, byName.get(entry.model_public_name)));
  return listing('Models by rank', columnsOf(input), rows) + formulaText;
}

function unranked(facts: BoardFacts): string {
  const { insufficient_data_models: names } = facts.board;
  if (names.length === 0) return '';
  return `<section><h2>Not enough data</h2>
<p>Ranked models have ${enough(facts)}. These have fewer:</p>
<ul class="links">${names.map((name) => `<li>${modelLink(name)}</li>`).join('')}</ul></section>`;
}

const quietHours = (leastAccounts: number): string =>
  leastAccounts > 1
    ? `<li>An hour in which fewer than ${leastAccounts} accounts called a model isn’t shown by itself. Such hours count together with others of the same day.</li>
`
    : '';

const method = ({ leastAccounts }: BoardFacts): string => `<section><h2>How models are ranked</h2>
<p>${FORMULA}</p>
<ul>
<li>Figures come from every API call of all accounts, summed each hour. Nothing is sampled.</li>
<li>The small figures below a rate or a latency are its 95% confidence interval. A model whose interval overlaps that of the first model of a rank shares the rank.</li>
<li>A call succeeds if it is answered, for a chat with at least one token. If another model answered in its place, it counts as an error of the requested model.</li>
<li>Latencies are those of successful calls, from admission to the last byte. Percentiles come from merged histograms, never from averages, and are within 1%.</li>
<li>“Mostly one account” means that one account made more than half of the calls.</li>
${quietHours(leastAccounts)}</ul>
<p><a href="/docs/api#getLeaderboard">The same figures as JSON</a></p></section>`;

const DESCRIPTION =
  'Open models ranked by success rate, latency and price, measured on every API call of the last days, with sample sizes and confidence intervals.';

/** `/leaderboard`: all ranked models in the requested order. */
export function leaderboardPage(facts: BoardFacts): SitePage {
  const { input, board } = facts;
  const windows = ([7, 30] as const).map(
    (days) =>
      `<a href="${addressOf({ ...input, window_days: days })}"${days === input.window_days ? ' aria-current="true"' : ''}>${days} days</a>`,
  );
  return {
    path: '/leaderboard',
    title: 'Model leaderboard',
    description: DESCRIPTION,
    about: {
      '@type': 'Dataset',
      name: 'Model leaderboard',
      dateModified: board.generated_at,
      creator: { '@type': 'Organization', name: 'Inference gateway' },
      variableMeasured: [
        'success rate',
        'latency',
        'time to first token',
        'output tokens per second',
        'price',
      ],
    },
    wide: true,
    main: `<p class="lead">How each model did for all accounts of this gateway: success rate, latency and price.</p>
<div class="toolbar"><nav class="choice" aria-label="Window">${windows.join('')}</nav><span class="aside">As of ${timeOf(board.generated_at)}</span></div>
${simulatedNote(facts.simulated)}
${ranked(facts)}
${unranked(facts)}
${method(facts)}`,
  };
}

/** The page for unknown models. */
export const missingModel = (name: string, models: readonly string[]): SitePage => ({
  title: 'No such model',
  main: `<p>There is no model <code>${escaped(name)}</code>. These are the models of this gateway:</p>
<ul>${models.map((model) => `<li>${modelLink(model)}</li>`).join('')}</ul>
<p><a href="/leaderboard">Compare them on the leaderboard</a></p>`,
});
