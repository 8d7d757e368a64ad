import { describeInBrowser, NARROW, useBrowser, WIDE } from '../support/browser.js';
import { usePlatform } from '../support/platform-suite.js';
import { expectGoodLooks } from '../web/dashboard.js';

/**
 * Removes entries of the reference in which every element looks like an earlier one, so one of each kind stays. axe needs 15
 * seconds for the whole reference.
 */
const ONE_OF_EACH_KIND = `{
  const seen = new Set();
  const drawn = ({ tagName, className }) => tagName + '.' + className;
  const kindOf = (one) => drawn(one.parentElement) + ' > ' + drawn(one) + ' ' + one.getAttributeNames().sort();
  for (const heading of document.querySelectorAll('main h3')) {
    const entry = [heading];
    for (let next = heading.nextElementSibling; next && !/^H[1-3]$/.test(next.tagName); next = next.nextElementSibling)
      entry.push(next);
    const kinds = entry.flatMap((part) => [part, ...part.querySelectorAll('*')]).map(kindOf);
    if (kinds.every((kind) => seen.has(kind))) for (const part of entry) part.remove();
    for (const kind of kinds) seen.add(kind);
  }
}`;

/** What has to be true of the whole reference. */
const WHOLE = `({
  ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
  width: document.documentElement.scrollWidth,
})`;

describeInBrowser('the public pages in a real browser', () => {
  const browser = useBrowser();
  const suite = usePlatform();

  test('have the product’s header and theme, fit, and read well in light and dark', async () => {
    const page = await browser.open(suite.url, { colorScheme: 'light', expectedErrors: /404/ });
    for (const path of [
      '/docs',
      '/docs/api',
      '/docs/graphql',
      '/docs/webhooks',
      '/docs/widget',
      '/nothing/here',
    ]) {
      await page.goto(path);
      await page.getByRole('banner').getByText('Inference gateway').waitFor();
      if (path === '/docs/api') {
        for (const viewport of [NARROW, WIDE]) {
          await page.setViewportSize(viewport);
          const { ids, width } = await page.evaluate<{ ids: string[]; width: number }>(WHOLE);
          expect([width, ids.length]).toEqual([viewport.width, new Set(ids).size]);
        }
        await page.evaluate(ONE_OF_EACH_KIND);
      }
      await expectGoodLooks(page, `public${path.replaceAll('/', '-')}`);
    }
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('button', { name: 'Theme: system. Change to light' }).click();
    await page.goto('/docs/api#topUp');
    await page.locator('html[data-mantine-color-scheme=light]').waitFor();
    await page.getByRole('heading', { name: 'Create a chat completion' }).waitFor();
  });
});
