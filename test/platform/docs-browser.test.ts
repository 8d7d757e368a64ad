import { describeInBrowser, useBrowser } from '../support/browser.js';
import { usePlatform } from '../support/platform-suite.js';
import { expectGoodLooks } from '../web/dashboard.js';

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
      await expectGoodLooks(page, `public${path.replaceAll('/', '-')}`);
    }
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('button', { name: 'Theme: system. Change to light' }).click();
    await page.goto('/docs/api#topUp');
    await page.locator('html[data-mantine-color-scheme=light]').waitFor();
    await page.getByRole('heading', { name: 'Continue a conversation' }).waitFor();
  });
});
