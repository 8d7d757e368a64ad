import pa11y from 'pa11y';
import { NO_BROWSER, startBrowser } from '../lib/browser.mjs';
import { publicPages } from '../lib/pages.mjs';

export async function run(checks, { url }) {
  if (NO_BROWSER) return checks.skip(NO_BROWSER);
  const browser = await startBrowser();
  try {
    for (const path of await publicPages(url))
      await checks.check(path, async () => {
        const { issues } = await pa11y(url + path, { browser, standard: 'WCAG2AA', timeout: 60_000 });
        if (issues.length > 0)
          throw new Error(
            issues.map(({ code, selector, message }) => `${code} at ${selector}: ${message}`).join('; '),
          );
      });
  } finally {
    await browser.close();
  }
}
