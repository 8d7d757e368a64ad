import axe from 'axe-core';
import type { Frame, Page } from 'playwright-core';

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/**
 * Fails on any serious or critical finding of axe. The script is handed over by the debugger's protocol, so that the
 * page's own policy stays as strict as it is. A frame without an origin may fetch nothing, its own styles included.
 */
export async function expectAccessible(page: Page | Frame): Promise<void> {
  // Half a megabyte of script: once per document.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ['violations'], preload: self.origin !== 'null' }).then(({ violations }) => violations)`,
  );
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
  expect(grave).toEqual([]);
}
