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

/** Sections out of view aren't rendered, so the audit would measure the links in them as covered. */
function renderAll() {
  addEventListener('DOMContentLoaded', () => {
    const style = new CSSStyleSheet();
    style.replaceSync('* { content-visibility: visible !important }');
    document.adoptedStyleSheets.push(style);
  });
}

export async function run(checks, { url }) {
  if (NO_BROWSER) return checks.skip(NO_BROWSER);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(renderAll);
    const flags = { onlyCategories: CATEGORIES, throttlingMethod: 'provided', logLevel: 'error' };
    for (const path of await publicPages(url)) {
      const { lhr } = await lighthouse(url + path, flags, undefined, page);
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
