import { escaped } from '../lib/html.js';
import type { RunOutput, SharedSessionOutput } from '../services/playground/playground.outputs.js';
import type { Site } from './site.js';
import { sitePage } from './site-page.js';

const MINUTE = 16;

/** `2026-11-21 08:55 UTC` of a timestamp. */
const shownTime = (timestamp: string): string => `${timestamp.slice(0, MINUTE).replace('T', ' ')} UTC`;

/** A text as it was written: nothing in it is HTML. */
const verbatim = (text: string): string => `<pre class="text" tabindex="0">${escaped(text)}</pre>`;

const facts = (rows: readonly (readonly [string, string])[]): string =>
  `<table><tbody>${rows
    .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
    .join('')}</tbody></table>`;

const NOT_YET: Partial<Record<RunOutput['status'], string>> = {
  pending: 'This model has not answered yet.',
  running: 'This model is still answering. Load the page again in a moment.',
};

function answerOf({ status, response_content: text, error_message: error }: RunOutput): string {
  const waiting = NOT_YET[status];
  if (waiting !== undefined) return `<p>${escaped(waiting)}</p>`;
  const said =
    status === 'error'
      ? `<p>This run failed: ${escaped(error ?? 'no reason is known')}</p>`
      : status === 'cancelled'
        ? '<p>This run was cancelled.</p>'
        : '';
  return said + (text === null ? '' : verbatim(text));
}

function runSection(run: RunOutput): string {
  const served = run.served_model_public_name;
  const isFallback = served !== null && served !== run.model_public_name;
  return `<section>
<h2>${escaped(run.model_public_name)}</h2>
${answerOf(run)}
${facts([
  ['Served by', `${served ?? 'nobody'}${isFallback ? ', the fallback of the model asked' : ''}`],
  ['Tokens', `${run.input_tokens} in, ${run.output_tokens} out`],
  ['Time', run.latency_ms === null ? 'not known' : `${run.latency_ms} ms`],
  ['Price on the API', `$${run.list_cost_usd}`],
])}
</section>`;
}

/** A shared session as a page. It works without scripts, and loads nothing that the texts name. */
export function sharedPlaygroundPage(session: SharedSessionOutput, site: Site): string {
  const { prompt, system_prompt: system, parameters, runs, created_at: at } = session;
  const { temperature, max_tokens: maxTokens, top_p: topP } = parameters;
  const sampling: [string, string][] = [['Most tokens', String(maxTokens)]];
  if (temperature !== null) sampling.push(['Temperature', String(temperature)]);
  if (topP !== null) sampling.push(['Top p', String(topP)]);
  const asked = `<section>
<h2>Prompt</h2>
${verbatim(prompt)}
${system === null ? '' : `<h3>System prompt</h3>\n${verbatim(system)}`}
${facts([['Asked', shownTime(at)], ...sampling])}
</section>`;
  const main = [asked, ...runs.map(runSection)].join('\n');
  return sitePage({ title: 'A prompt and its responses', main }, site);
}

/** Told where nothing is shared, or not any more. */
export const missingPlaygroundPage = (site: Site): string =>
  sitePage(
    {
      title: 'Nothing is shared here',
      main: '<p>The link may be incomplete, or its owner stopped sharing.</p>',
    },
    site,
  );
