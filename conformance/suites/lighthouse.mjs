import lighthouse from 'lighthouse';
import { NO_BROWSER, startBrowser } from '../lib/browser.mjs';
import { publicPages } from '../lib/pages.mjs';

const CATEGORIES = ['accessibility', 'best-practices', 'seo'];
/** Audits that count in a score and aren't perfect. */
const imperfect = (lhr, category) =>
  category.auditRefs
    .map(({ id, weight }) => ({ ...lhr.audits[id], weight }))
    .filter(({ score, weight }) => weight > 0 && score !== null && score < 1)
    .map(({ id, title }) => `${id} (${title})`);

export async function run(checks, { url }) {
  if (NO_BROWSER) return checks.skip(NO_BROWSER);
  const browser = await startBrowser();
  try {
    const port = Number(new URL(browser.wsEndpoint()).port);
    for (const path of await publicPages(url)) {
      const { lhr } = await lighthouse(url + path, {
        port,
        onlyCategories: CATEGORIES,
        throttlingMethod: 'provided',
        logLevel: 'error',
      });
      for (const name of CATEGORIES)
        await checks.check(`${path}: ${name}`, async () => {
          if (lhr.runtimeError) throw new Error(lhr.runtimeError.message);
          const category = lhr.categories[name];
          if (category.score !== 1)
            throw new Error(`${Math.round(category.score * 100)}: ${imperfect(lhr, category).join(', ')}`);
        });
    }
  } finally {
    await browser.close();
  }
}
