import { readFileSync } from 'node:fs';

const ESCAPED = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text) => text.replace(/[&<>]/g, (sign) => ESCAPED[sign]);

/**
 * The outline that a document shows before any script has loaded: title and lead, from the same texts as the page
 * (web/app/outlines.json). Path → HTML.
 */
export function outlines() {
  const texts = JSON.parse(readFileSync(new URL('../app/outlines.json', import.meta.url), 'utf8'));
  return Object.fromEntries(
    Object.entries(texts).map(([url, { title, lead }]) => [
      url,
      `<div class="shell-title">${escaped(title)}</div><div class="shell-lead">${escaped([lead].flat().join(''))}</div>`,
    ]),
  );
}
