import { escaped } from '../../lib/html.js';
import type { SitePage } from '../site.js';

/** Prose with code in backticks. */
export const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

export const paragraph = (text: string): string => `<p>${prose(text)}</p>`;

export const code = (text: string): string => `<pre tabindex="0"><code>${escaped(text.trim())}</code></pre>`;

/**
 * A table whose cells are HTML. It scrolls separately on narrow pages. Not a landmark: the reference has hundreds
 * with the same headings.
 */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table" tabindex="0" role="group" aria-label="Table: ${head.join(', ')}"><table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`;
}

/** A table of prose. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  tableOf(
    head.map(prose),
    rows.map((row) => row.map(prose)),
  );

export interface Section {
  id: string;
  title: string;
  body: string;
}

/** A page of the documentation: its topic, contents and sections. */
export function docsPage(path: string, title: string, lead: string, sections: readonly Section[]): SitePage {
  const contents = sections.map(({ id, title }) => `<li><a href="#${id}">${escaped(title)}</a></li>`);
  const body = sections.map(
    ({ id, title, body }) => `<section id="${id}"><h2>${escaped(title)}</h2>${body}</section>`,
  );
  const nav = sections.length > 1 ? `<nav aria-label="Contents"><ul>${contents.join('')}</ul></nav>\n` : '';
  return {
    path,
    title,
    description: lead,
    main: `${paragraph(lead)}\n${nav}${body.join('\n')}`,
  };
}
