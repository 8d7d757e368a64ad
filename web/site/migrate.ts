import { estimateView, FAULTY } from '../../src/pages/public/migrate/estimate-view.rules';
import { exportView } from '../../src/pages/public/migrate/export-view.rules';
import type { MigrateBasis } from '../../src/pages/public/migrate/migrate-page';
import { modelOptions } from '../../src/pages/public/migrate/model-options.rules';
import { presetsView } from '../../src/pages/public/migrate/presets-view.rules';
import {
  exportText,
  LARGEST_EXPORT,
  readUsageExport,
} from '../../src/pages/public/migrate/usage-export.rules';
import { readForm, type UsageForm } from '../../src/pages/public/migrate/usage-form.rules';
import { estimateOf, type Here } from '../../src/services/migration/estimate.rules';
import { findLegacyModel } from '../../src/services/migration/legacy-models.rules';
import type { LegacyProvider } from '../../src/services/migration/legacy-prices.data';
import { SNIPPETS_CAME } from './copy';

/** The estimator computes in the page: what is typed or pasted is sent nowhere. */
const basis = JSON.parse(document.getElementById('migrate-basis')?.textContent ?? '') as MigrateBasis;
const prices = new Map(basis.prices);
const here: Here = { baseUrl: basis.baseUrl, priceOf: (own) => prices.get(own)! };

const form = document.querySelector<HTMLFormElement>('[data-migrate]');
const result = document.querySelector('[data-result]');
const presets = document.querySelector('[data-presets]');
const provider = document.querySelector<HTMLSelectElement>('#legacy_provider');
const model = document.querySelector<HTMLInputElement>('#legacy_model');
const suggested = document.querySelector<HTMLDataListElement>('#models');

const announcement = document.querySelector('.announcement');
const SETTLED_MS = 1_000;
let settling: number | undefined;

/** Has the figures read out once nothing has changed for a while, or why there are none. */
function say(place: Element): void {
  window.clearTimeout(settling);
  settling = window.setTimeout(() => {
    const figures = [...place.querySelectorAll<HTMLElement>('.tiles > div')];
    const texts = figures.length > 0 ? figures.map(({ innerText }) => innerText) : [place.textContent ?? ''];
    if (announcement) announcement.textContent = texts.map((text) => text.replaceAll(/\s+/g, ' ')).join('. ');
  }, SETTLED_MS);
}

/** Everything in it was escaped by the views, which the server renders too. */
function show(place: Element, html: string): void {
  place.innerHTML = html;
  place.dispatchEvent(new Event(SNIPPETS_CAME, { bubbles: true }));
  say(place);
}

function showFaults(own: HTMLFormElement, faults: Partial<UsageForm>): void {
  for (const control of own.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input, select')) {
    const fault = faults[control.name as keyof UsageForm];
    if (fault === undefined) control.removeAttribute('aria-invalid');
    else control.setAttribute('aria-invalid', 'true');
    const place = document.getElementById(`${control.name}-fault`);
    if (place) place.textContent = fault ?? '';
  }
}

/** The address says what is shown, so that it can be shared. */
function keepAddress(own: HTMLFormElement): void {
  const filled = [...new FormData(own)].filter(([, value]) => value !== '');
  const query = new URLSearchParams(filled.map(([name, value]) => [name, String(value)]));
  history.replaceState(null, '', `${location.pathname}?${query}`);
}

function compare(own: HTMLFormElement): void {
  const entered = Object.fromEntries(new FormData(own)) as unknown as UsageForm;
  const { usage, faults } = readForm(entered);
  if (presets) presets.innerHTML = presetsView(entered);
  showFaults(own, faults);
  if (!result) return;
  if (!usage) {
    show(result, FAULTY);
    return;
  }
  const { peakPerMinute, ...input } = usage;
  show(result, estimateView(estimateOf(input, here), basis.plans, peakPerMinute));
  keepAddress(own);
}

// Before the form hears of it.
provider?.addEventListener('input', () => {
  if (!suggested || !model) return;
  suggested.innerHTML = modelOptions(basis.known, provider.value);
  // A name that nobody knows may be one of the new provider's.
  if (findLegacyModel(provider.value as LegacyProvider, model.value).elsewhere)
    model.value = suggested.options[0]!.value;
});
form?.addEventListener('input', () => compare(form));
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  compare(form);
});

const place = document.querySelector('[data-export-result]');
const pasted = document.querySelector<HTMLTextAreaElement>('#usage-export');
const file = document.querySelector<HTMLInputElement>('#usage-file');
const UNREAD =
  '<p>We don’t recognize this as a usage export. It needs columns with model, input and output tokens, and counts such as 1234567.</p>';
const TOO_LARGE = '<p>This is more than 20 MB. Export a shorter period or daily totals.</p>';

/** `nothing`: what is shown for a text without anything in it. */
function showExport(text: string, nothing = ''): void {
  if (!place) return;
  if (text.length > LARGEST_EXPORT) {
    show(place, TOO_LARGE);
    return;
  }
  const usage = readUsageExport(text);
  const unread = text.trim() ? UNREAD : nothing;
  show(place, usage ? exportView(usage, here, basis.plans) : unread);
}

for (const part of document.querySelectorAll('[data-export]')) part.removeAttribute('hidden');
pasted?.addEventListener('input', () => showExport(pasted.value));
file?.addEventListener('change', () => {
  const chosen = file.files?.[0];
  if (place && chosen && chosen.size > LARGEST_EXPORT) show(place, TOO_LARGE);
  else void chosen?.arrayBuffer().then((bytes) => showExport(exportText(bytes), UNREAD));
});
