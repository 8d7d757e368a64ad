import { escaped } from '../../lib/html.js';
import { latencyText } from '../../lib/latency-text.js';
import { moneyParts } from '../../lib/money-parts.js';

/** An amount in dollars to its last digit (docs/style.md): what is behind the cents is muted. */
export function money(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return `<span class="money">${main}${rest === '' ? '' : `<span>${rest}</span>`}</span>`;
}

/** The same as text. */
export function moneyText(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return main + rest;
}

// A script that needs only one of them leaves the other out.
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

/** `98.25%` of a share from 0 to 1. What isn't all doesn't read as all, and what isn't none doesn't read as none. */
export function percent(share: number): string {
  const rounded = Math.round(share * 10_000) / 100;
  if (rounded === 0 && share > 0) return 'under 0.01%';
  const shown = rounded === 100 && share < 1 ? 99.99 : rounded;
  return `${shown === 100 || shown === 0 ? shown : shown.toFixed(2)}%`;
}

/** `1,234 ms`; a dash for what is not known. */
export const milliseconds = (value: number | null): string =>
  value === null ? '–' : `${formatInteger(value)} ms`;

/** How long a call took, as the dashboard shows it; a dash for what is not known. */
export const latency = (ms: number | null): string => (ms === null ? '–' : latencyText(ms, formatInteger));

const MINUTE = 16;

/** `2026-11-21 08:55 UTC` of a timestamp, for people and programs. */
export const timeOf = (timestamp: string): string =>
  `<time datetime="${escaped(timestamp)}">${timestamp.slice(0, MINUTE).replace('T', ' ')} UTC</time>`;

/** A column of a table: its heading, and whether it holds figures that stand below each other. */
export interface Column {
  /** HTML. */
  head: string;
  figures?: boolean;
  /** The order that the rows are in, where they are sorted by this column. */
  sorted?: 'ascending' | 'descending' | undefined;
}

const attributes = ({ figures, sorted }: Column): string =>
  `${figures ? ' class="figures"' : ''}${sorted ? ` aria-sort="${sorted}"` : ''}`;

/** A table whose rows start with their name. It scrolls by itself where the page is narrow, the names stay in sight. */
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

/** Figures at a glance: label, value in HTML, and a note where there is something to add. */
export function tiles(figures: readonly (readonly [label: string, value: string, note?: string])[]): string {
  const one = figures.map(
    ([label, value, note]) =>
      `<div><dt>${escaped(label)}</dt><dd>${value}${note === undefined ? '' : `<small>${escaped(note)}</small>`}</dd></div>`,
  );
  return `<dl class="tiles">${one.join('')}</dl>`;
}

/** Code with a heading, which the script gives a button to copy it. */
export const snippet = (title: string, text: string): string =>
  `<figure class="snippet"><figcaption>${escaped(title)}</figcaption><pre tabindex="0"><code>${escaped(text.trim())}</code></pre></figure>`;

/** A link to a model's own page. */
export const modelLink = (publicName: string): string =>
  `<a href="${modelPath(publicName)}">${escaped(publicName)}</a>`;

/** Where a model's page is. */
export const modelPath = (publicName: string): string =>
  `/leaderboard/${encodeURIComponent(publicName.replace(/^gateway\//, ''))}`;

/** Says where the bundled simulator answers in the place of models. */
export const simulatedNote = (simulated: readonly string[]): string =>
  simulated.length === 0
    ? ''
    : `<p class="aside">The bundled simulator answers for ${simulated.length === 1 ? escaped(simulated[0]!) : `${simulated.length} models`} of this installation. Its figures say nothing about the real models.</p>`;
