import { escaped } from '../lib/html.js';
import { isOnlyThinking, splitThinking } from '../lib/thinking.js';
import type { RunOutput, SharedSessionOutput } from '../services/playground/playground.outputs.js';
import { markdownHtml } from './markdown-html.js';
import { formatInteger, latency, money, timeOf } from './public/html.js';
import type { SiteContext } from './site.js';
import { sitePage } from './site-page.js';

/** A text exactly as it was written, escaped, with a copy button. */
function verbatim(what: string, text: string): string {
  const count = [...text].length;
  const characters = `${formatInteger(count)} character${count === 1 ? '' : 's'}`;
  return `<figure class="snippet" data-copy="${what}"><figcaption>${characters}</figcaption><pre class="text" tabindex="0"><code>${escaped(text)}</code></pre></figure>`;
}

/** Names with values in HTML. */
const facts = (rows: readonly (readonly [string, string])[]): string =>
  `<table class="facts"><tbody>${rows
    .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${value}</td></tr>`)
    .join('')}</tbody></table>`;

const NOT_YET: Partial<Record<RunOutput['status'], string>> = {
  pending: 'This model has not answered yet.',
  running: 'This model is still answering. Load the page again in a moment.',
};

function answerOf(run: RunOutput): string {
  const { status, response_content: text, error_message: error } = run;
  const waiting = NOT_YET[status];
  if (waiting !== undefined) return `<p>${waiting}</p>`;
  const outcome =
    status === 'error'
      ? `<p>This run failed: ${escaped(error ?? 'the reason is unknown')}</p>`
      : status === 'cancelled'
        ? '<p>This run was stopped.</p>'
        : '';
  const { thinking, answer } = splitThinking(text ?? '');
  const thought =
    thinking &&
    `<details><summary>Thinking</summary><div class="answer">${markdownHtml(thinking)}</div></details>`;
  if (answer !== '') return `${outcome}${thought}<div class="answer">${markdownHtml(answer)}</div>`;
  const isSpent = status === 'success' && isOnlyThinking(answer, run.output_tokens, run.finish_reason);
  return outcome + thought + (isSpent ? '<p>There is no answer: all tokens went into thinking.</p>' : '');
}

function runSection(run: RunOutput): string {
  const served = run.served_model_public_name;
  const isFallback = served !== null && served !== run.model_public_name;
  return `<section>
<h2>${escaped(run.model_public_name)}</h2>
${answerOf(run)}
${facts([
  ['Served by', `${escaped(served ?? '–')}${isFallback ? ', the fallback of this model' : ''}`],
  ['Tokens', `${formatInteger(run.input_tokens)} in, ${formatInteger(run.output_tokens)} out`],
  ['Latency', latency(run.latency_ms)],
  ['Price on the API', money(run.list_cost_usd)],
])}
</section>`;
}

/** A shared session as a page. It works without scripts, and loads nothing that the texts mention. */
export function sharedPlaygroundPage(session: SharedSessionOutput, slug: string, site: SiteContext): string {
  const { prompt, system_prompt: system, parameters, runs, created_at: at } = session;
  const { temperature, max_tokens: maxTokens, top_p: topP } = parameters;
  const sampling: [string, string][] = [['Max tokens', formatInteger(maxTokens)]];
  if (temperature !== null) sampling.push(['Temperature', String(temperature)]);
  if (topP !== null) sampling.push(['Top p', String(topP)]);
  const main = `<p class="lead">Asked in the model playground, and answered by ${runs.length === 1 ? 'one model' : `${runs.length} models`}.</p>
<p class="actions"><a class="primary" href="/dashboard/playground?slug=${encodeURIComponent(slug)}">Try it</a><span class="aside">Opens your playground with this prompt. Runs are free.</span></p>
<section>
<h2>Prompt</h2>
${verbatim('prompt', prompt)}
${system === null ? '' : `<h3>System prompt</h3>\n${verbatim('system prompt', system)}`}
${facts([['Asked', timeOf(at)], ...sampling])}
</section>
<div class="columns">
${runs.map(runSection).join('\n')}
</div>`;
  return sitePage({ title: 'A prompt and its answers', wide: true, main }, site);
}

/** The page for sessions that aren't shared, or not any more. */
export const missingPlaygroundPage = (site: SiteContext): string =>
  sitePage(
    {
      title: 'Nothing is shared here',
      main: '<p>The link may be incomplete, or its owner stopped sharing the session or made a new link.</p>',
    },
    site,
  );
