import { escaped } from '../../lib/html.js';
import type { LeaderboardOutput } from '../../services/leaderboard/leaderboard.outputs.js';
import type { CodeSnippetsOutput } from '../../services/migration/migration.outputs.js';
import type { SitePage } from '../site.js';
import {
  formatInteger,
  listing,
  milliseconds,
  modelLink,
  moneyText,
  percent,
  simulatedNote,
  snippet,
  tiles,
  timeOf,
} from './html.js';
import { lowestPrice, type PublicCatalog, priceTable, starterPlan } from './prices.js';

export interface LandingFacts {
  baseUrl: string;
  catalog: PublicCatalog;
  board: LeaderboardOutput;
  /** Code of a first chat call. */
  snippets: CodeSnippetsOutput;
}

function opening({ catalog, snippets }: LandingFacts): string {
  const from = moneyText(lowestPrice(catalog));
  const credit = moneyText(starterPlan(catalog)?.included_credits_usd ?? '0');
  return `<div class="hero">
<div>
<h1>Open models behind the OpenAI API, billed to the token</h1>
<p class="lead">For teams that call OpenAI today. Change the base URL and keep your SDK: Gemma, Qwen and DeepSeek answer the same
requests, from ${from} per million tokens. A failed call costs nothing.</p>
<p class="actions"><a class="primary" href="/signup">Create an account</a><a href="/pricing">See all prices</a></p>
<p class="aside">You start with ${credit} of credit. No card needed.</p>
</div>
${snippet('Your first call', snippets.curl)}
</div>`;
}

/** Figures of the last days over all ranked models. */
function liveFigures({ board }: LandingFacts): string {
  const { entries } = board;
  if (entries.length === 0)
    return '<p>No model has enough calls in the last 7 days to be ranked. The figures appear here as calls are made.</p>';
  const calls = entries.reduce((sum, entry) => sum + entry.requests, 0);
  const successes = entries.reduce((sum, entry) => sum + entry.success_rate * entry.requests, 0);
  // Latencies are those of successful calls.
  const answering = entries.filter((entry) => entry.success_rate > 0);
  const [quickest] = answering.toSorted((a, b) => a.p50_latency_ms - b.p50_latency_ms);
  return `${tiles([
    ['Calls of ranked models', formatInteger(calls), 'in the last 7 days'],
    ['Successful', percent(successes / calls)],
    ['Lowest median latency', milliseconds(quickest?.p50_latency_ms ?? null), quickest?.model_public_name],
  ])}
${listing(
  'The first models of the leaderboard',
  [
    { head: 'Model' },
    { head: 'Rank', figures: true },
    { head: 'Success rate', figures: true },
    { head: 'Latency, p95', figures: true },
    { head: 'Calls', figures: true },
  ],
  entries
    .slice(0, 3)
    .map((entry) => [
      modelLink(entry.model_public_name),
      String(entry.rank),
      percent(entry.success_rate),
      milliseconds(entry.success_rate === 0 ? null : entry.p95_latency_ms),
      formatInteger(entry.requests),
    ]),
)}`;
}

const step = (title: string, text: string): string => `<li><h3>${title}</h3>${text}</li>`;

function quickStart({ snippets }: LandingFacts): string {
  return `<section><h2>Three steps to the first answer</h2>
<ol class="steps">
${step('Create an account', '<p><a href="/signup">Sign up</a> with an email address and a password.</p>')}
${step('Create a key', '<p>The dashboard shows it once. Keep it in your environment:</p><pre tabindex="0"><code>export GATEWAY_API_KEY=sk-pr-…</code></pre>')}
${step('Make a call', '<p>Use the command above, or the OpenAI SDK that you already have:</p>')}
</ol>
<div class="columns">
${snippet('Node.js', snippets.node)}
${snippet('Python', snippets.python)}
</div>
</section>`;
}

const INCLUDED = `<section><h2>Included in every plan</h2>
<ul class="facts">
<li><h3>A cap for each key</h3><p>A daily cap stops a key before it overspends. A monthly limit sends <a href="/docs/webhooks">alerts by email or signed webhook</a>.</p></li>
<li><h3>Every call in the ledger</h3><p>Tokens, price, latency and charge of each call, live and as CSV. Prompts and answers of API calls are never stored.</p></li>
<li><h3>Prompts with versions</h3><p>Save a prompt, change it as a new version, and go back to an earlier one in one step.</p></li>
<li><h3>Models side by side</h3><p>Send one prompt to up to four models in the playground, free of charge, and share the result.</p></li>
<li><h3>REST and GraphQL</h3><p>Everything in the dashboard is in the <a href="/docs/api">REST API</a> and in <a href="/docs/graphql">GraphQL</a> with subscriptions.</p></li>
<li><h3>Measured in public</h3><p>The <a href="/leaderboard">leaderboard</a> shows success rate, latency and sample size of each model, good or bad.</p></li>
</ul></section>`;

/** `/`: the product, its audience, prices, live figures and a first call. */
export function landingPage(facts: LandingFacts): SitePage {
  const { catalog, board, baseUrl } = facts;
  const from = moneyText(lowestPrice(catalog));
  const main = `<section><h2>What it costs</h2>
${priceTable(catalog.models)}
<p>You pay for tokens from prepaid credit. A call costs tokens × price ÷ 1,000,000, exact to the last digit, with no minimum. <a href="/pricing">Plans</a>
start at $0 a month and decide which models you can call, and how often.</p></section>
<section><h2>How the models are doing</h2>
${liveFigures(facts)}
${simulatedNote(catalog.simulated)}
<p class="aside">Measured on the calls of ranked models in the last 7 days. As of ${timeOf(board.generated_at)}. <a href="/leaderboard">Full leaderboard</a></p></section>
${quickStart(facts)}
${INCLUDED}
<section><h2>Coming from another provider?</h2>
<p>Enter your model and tokens, or paste a usage export: <a href="/migrate">compare your bill with ours</a>. The export is read in your browser and isn’t sent anywhere.</p></section>`;
  return {
    path: '/',
    title: 'Open models behind the OpenAI API',
    documentTitle: 'Inference gateway: open models behind the OpenAI API',
    description: `Call Gemma, Qwen and DeepSeek with the OpenAI SDK that you already use. Prepaid, from ${from} per million tokens, every call billed exactly, failed calls free.`,
    about: {
      '@type': 'WebSite',
      name: 'Inference gateway',
      publisher: { '@type': 'Organization', name: 'Inference gateway', url: `${escaped(baseUrl)}/` },
    },
    wide: true,
    opening: opening(facts),
    main,
  };
}
