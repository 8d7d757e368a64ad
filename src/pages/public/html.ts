import { escaped } from '../../lib/html.js';
import { latencyText } from '../../lib/latency-text.js';
import { moneyParts } from '../../lib/money-parts.js';

/** An amount in dollars to its last digit (docs/style.md); digits after the cents are muted. */
export function money(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return `<span class="money">${main}${rest === '' ? '' : `<span>${rest}</span>`}</span>`;
}

/** The same as text. */
export function moneyText(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return main + rest;
}

// Marked as pure, so that a bundle leaves the unused one out.
const whole = /* @__PURE__ */ new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = /* @__PURE__ */ new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** `12,345`. */
export const formatInteger = (value: number): string => whole.format(value);

/** `12.3` tokens per second; a dash where nothing is generated. */
export const tokensPerSecond = (value: number | null): string =>
  value === null || value === 0 ? '–' : tenths.format(value);

/** `98.25%` for a share from 0 to 1. Rounds to 0% and 100% only if the share is exactly that. */
export function percent(share: number): string {
  const rounded = Math.round(share * 10_000) / 100;
  if (rounded === 0 && share > 0) return 'under 0.01%';
  const shown = rounded === 100 && share < 1 ? 99.99 : rounded;
  return `${shown === 100 || shown === 0 ? shown : shown.toFixed(2)}%`;
}

/** `1,234 ms`; a dash for an unknown value. */
export const milliseconds = (value: number | null): string =>
  value === null ? '–' : `${formatInteger(value)} ms`;

/** The duration of a call, as the dashboard shows it; a dash for an unknown value. */
export const latency = (ms: number | null): string => (ms === null ? '–' : latencyText(ms, formatInteger));

const MINUTE = 16;

/** `2026-11-21 08:55 UTC` for a timestamp, for people and programs. */
export const timeOf = (timestamp: string): string =>
  `<time datetime="${escaped(timestamp)}">${timestamp.slice(0, MINUTE).replace('T', ' ')} UTC</time>`;

/** A table column: its heading, and whether it contains figures to align. */
export interface Column {
  /** HTML. */
  head: string;
  figures?: boolean;
  /** The order of the rows, if they are sorted by this column. */
  sorted?: 'ascending' | 'descending' | undefined;
}

const attributes = ({ figures, sorted }: Column): string =>
  `${figures ? ' class="figures"' : ''}${sorted ? ` aria-sort="${sorted}"` : ''}`;

/** A table whose rows start with a name. It scrolls separately on narrow pages; the names stay visible. */
export function listing(
  name: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const head = columns.map((column) => `<th scope="col"${attributes(column)}>${column.head}</th>`);
  const body = rows.map(([first, ...cells]) => {
    const rest = cells.map(
      (cell, i) => `<td${columns[i + 1]!.figures ? ' class="figures"' : ''}>${cell}</td>`,
    );
    return `<tr><th scope="row">${first}</th>${rest.join('')}</tr>`;
  });
  return `<section class="table" tabindex="0" aria-label="${escaped(name)}"><table class="listing"><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></section>`;
}

/** Figures at a glance: label, value in HTML, and an optional note. */
export function tiles(figures: readonly (readonly [label: string, value: string, note?: string])[]): string {
  const one = figures.map(
    ([label, value, note]) =>
      `<div><dt>${escaped(label)}</dt><dd>${value}${note === undefined ? '' : `<small>${escaped(note)}</small>`}</dd></div>`,
  );
  return `<dl class="tiles">${one.join('')}</dl>`;
}

/** Code with a heading; the script adds a copy button. */
export const snippet = (title: string, text: string): string =>
  `<figure class="snippet"><figcaption>${escaped(title)}</figcaption><pre tabindex="0"><code>${escaped(text.trim())}</code></pre></figure>`;

/** A link to a model's page. */
export const modelLink = (publicName: string): string =>
  `<a href="${modelPath(publicName)}">${escaped(publicName)}</a>`;

/** The path of a model's page. */
export const modelPath = (publicName: string): string =>
  `/leaderboard/${encodeURIComponent(publicName.replace(/^gateway\//, ''))}`;

/** A note that lists the models which the bundled simulator answers for. */
export const simulatedNote = (simulated: readonly string[]): string =>
  simulated.length === 0
    ? ''
    : `<p class="aside">The bundled simulator answers for ${simulated.length === 1 ? escaped(simulated[0]!) : `${simulated.length} models`} of this installation. Its figures say nothing about the real models.</p>`;
