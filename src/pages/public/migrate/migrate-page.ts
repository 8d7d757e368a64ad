import { escaped } from '../../../lib/html.js';
import { LEGACY_PROVIDERS, PROVIDER_NAMES } from '../../../services/migration/legacy-prices.data.js';
import type { SitePage } from '../../site.js';
import { FAULTY } from './estimate-view.rules.js';
import { modelOptions } from './model-options.rules.js';
import type { PlanLimits } from './plan-advice.rules.js';
import { presetsView } from './presets-view.rules.js';
import type { UsageForm } from './usage-form.rules.js';

/** Data for the computation in the browser, as JSON. */
export interface MigrateBasis {
  baseUrl: string;
  prices: readonly (readonly [string, { publicName: string; input: string; output: string }])[];
  known: readonly (readonly [string, readonly string[]])[];
  plans: readonly PlanLimits[];
}

export interface MigrateFacts {
  form: UsageForm;
  faults: Partial<UsageForm>;
  /** HTML of the estimate; undefined if the form has faults. */
  result: string | undefined;
  basis: MigrateBasis;
  script: string | undefined;
}

interface Field {
  name: keyof UsageForm;
  label: string;
  hint?: string;
}

const COUNTS: readonly Field[] = [
  { name: 'input_tokens_30d', label: 'Input tokens in 30 days' },
  { name: 'output_tokens_30d', label: 'Output tokens in 30 days' },
  {
    name: 'cached_input_tokens_30d',
    label: 'Cached input tokens in 30 days',
    hint: 'Optional. Your provider bills them at a lower price.',
  },
  {
    name: 'peak_requests_per_minute',
    label: 'Requests per minute at peak',
    hint: 'Optional. Decides which plan you need.',
  },
];

const PROVIDER: Field = { name: 'legacy_provider', label: 'Provider' };
const MODEL: Field = { name: 'legacy_model', label: 'Model' };

/** Links a control to its hint and its fault, which screen readers read with it. */
function described({ name, hint }: Field, fault: string | undefined): string {
  const by = hint === undefined ? `${name}-fault` : `${name}-hint ${name}-fault`;
  return ` aria-describedby="${by}"${fault === undefined ? '' : ' aria-invalid="true"'}`;
}

/** A field with its hint and its fault. */
function field({ name, label, hint }: Field, control: string, fault: string | undefined): string {
  return `<p class="field"><label for="${name}">${label}</label>${control}${hint === undefined ? '' : `<small id="${name}-hint">${hint}</small>`}<small class="fault" id="${name}-fault">${fault === undefined ? '' : escaped(fault)}</small></p>`;
}

function formOf({ form, faults, basis }: MigrateFacts): string {
  const options = LEGACY_PROVIDERS.map(
    (provider) =>
      `<option value="${provider}"${provider === form.legacy_provider ? ' selected' : ''}>${PROVIDER_NAMES[provider]}</option>`,
  );
  const text = (one: Field, rest: string): string => {
    const { name } = one;
    const control = `<input type="text" id="${name}" name="${name}" value="${escaped(form[name])}" autocomplete="off"${rest}${described(one, faults[name])}>`;
    return field(one, control, faults[name]);
  };
  return `<form class="form" method="get" action="/migrate" data-migrate novalidate>
${field(PROVIDER, `<select id="legacy_provider" name="legacy_provider"${described(PROVIDER, faults.legacy_provider)}>${options.join('')}</select>`, faults.legacy_provider)}
${text(MODEL, ' list="models" maxlength="200" spellcheck="false"')}
${COUNTS.map((one) => text(one, ' inputmode="decimal"')).join('\n')}
<datalist id="models">${modelOptions(basis.known, form.legacy_provider)}</datalist>
<p class="actions"><button type="submit" class="primary">Compare</button></p>
</form>`;
}

const EXPORT = `<section data-export id="export" hidden><h2>Or paste a usage export</h2>
<p>A CSV or JSON usage export of OpenAI, Anthropic or OpenRouter for a month or longer. It is read in your browser: nothing that you paste is sent
anywhere, and no key is needed.</p>
<p class="field"><label for="usage-export">Usage export</label><textarea id="usage-export" rows="6" spellcheck="false" autocomplete="off"></textarea></p>
<p class="field"><label for="usage-file">Or choose the file</label><input type="file" id="usage-file" accept=".csv,.json,text/csv,application/json"></p>
<div data-export-result></div></section>
<noscript><p class="aside">With JavaScript, you can also paste a usage export, which is read in your browser.</p></noscript>`;

const dataOf = (basis: MigrateBasis): string =>
  `<script type="application/json" id="migrate-basis">${JSON.stringify(basis).replaceAll('<', '\\u003c')}</script>`;

/**
 * `/migrate`: the cost of another provider's usage here. A form that works without scripts; with them the browser
 * computes the estimate.
 */
export function migratePage(facts: MigrateFacts): SitePage {
  return {
    path: '/migrate',
    title: 'Compare your bill',
    description:
      'What your OpenAI, Anthropic or OpenRouter usage costs here: enter model and tokens, or paste a usage export that never leaves your browser.',
    about: { '@type': 'WebApplication', applicationCategory: 'DeveloperApplication', operatingSystem: 'any' },
    wide: true,
    script: facts.script,
    main: `<p class="lead">What does your usage of OpenAI, Anthropic or OpenRouter cost here? Both sides at list price.</p>
<div class="estimate">
${formOf(facts)}
<section aria-label="Estimate"><p class="aside presets"><span data-presets>${presetsView(facts.form)}</span><a href="#export" data-export hidden>Paste a usage export</a></p>
<div data-result>${facts.result ?? FAULTY}</div></section>
</div>
<p class="announcement" role="status"></p>
${EXPORT}
${dataOf(facts.basis)}`,
  };
}
