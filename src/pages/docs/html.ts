import { escaped } from '../../lib/html.js';

/** Prose with code in backticks. */
export const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

export const paragraph = (text: string): string => `<p>${prose(text)}</p>`;

export const code = (text: string): string => `<pre tabindex="0"><code>${escaped(text.trim())}</code></pre>`;

/** A table of prose. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${prose(cell)}</${tag}>`).join('')}</tr>`;
  return `<table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table>`;
}

export interface Section {
  id: string;
  title: string;
  body: string;
}

/** A page of the documentation. Its style is a file of this site: nothing is inline, nothing comes from elsewhere. */
export function docsPage(title: string, lead: string, sections: readonly Section[]): string {
  const contents = sections
    .map(({ id, title }) => `<li><a href="#${id}">${escaped(title)}</a></li>`)
    .join('');
  const body = sections.map(
    ({ id, title, body }) => `<section id="${id}"><h2>${escaped(title)}</h2>${body}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<header><a href="/docs">Documentation</a></header>
<main>
<h1>${escaped(title)}</h1>
${paragraph(lead)}
${sections.length > 1 ? `<nav aria-label="Contents"><ul>${contents}</ul></nav>` : ''}
${body.join('\n')}
</main>
</body>
</html>
`;
}

export const STYLE = `:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff; --code: #f4f5f7; --link: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4af; --line: #373e47; --paper: #14171a; --code: #1e2328; --link: #8ab4f8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
header, main { max-width: 52rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
h1 { font-size: 2rem; line-height: 1.2; margin: 1rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: 0.1em 0.3em; overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; overflow-x: auto; }
pre.text { white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
button { font: inherit; padding: 0.5rem 1rem; border: 1px solid var(--link); border-radius: 4px; background: none; color: var(--link); cursor: pointer; }
`;
