import { readFileSync } from 'node:fs';
import type { Frame, Page } from 'playwright-core';

/** Minified: less than half as much to send and to compile, for each document. */
const SCRIPT = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Moderate for axe, but two regions with one name confuse people who navigate by regions. */
const ALSO = ['landmark-unique'];

/**
 * A rule of axe has one impact for all findings. Rules with a lesser impact fail no test and don't run, except `ALSO`. None
 * of the others needs styles or media, which a frame without an origin may not fetch.
 */
const RUN = `axe.run(document, {
  resultTypes: ['violations'],
  preload: false,
  selectors: false,
  rules: Object.fromEntries(
    axe._audit.rules
      .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
      .filter(({ id }) => !${JSON.stringify(ALSO)}.includes(id))
      .map(({ id }) => [id, { enabled: false }]),
  ),
}).then(({ violations }) => violations)`;

/** Mantine labels a dialog with its title one render after showing both. */
const UNNAMED = '[role="dialog"]:not([aria-labelledby]):not([aria-label])';

/**
 * Fails on any serious or critical finding of axe, and on those of `ALSO`, once no data is being reloaded: old rows fade while
 * new ones are on their way, and need no contrast. The script is injected by the debugger's protocol, so that the
 * page's policy stays as strict as it is.
 */
export async function expectAccessible(page: Page | Frame): Promise<void> {
  await page.locator('[data-awaiting]').first().waitFor({ state: 'detached' });
  await page.locator(UNNAMED).first().waitFor({ state: 'detached' });
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(SCRIPT);
  const violations = await page.evaluate<Violation[]>(RUN);
  const grave = violations
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || ALSO.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
  expect(grave).toEqual([]);
}
