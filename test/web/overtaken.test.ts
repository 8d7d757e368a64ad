import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { pageOf } from './dashboard.js';

describeInBrowser('a page whose data is still on its way', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('shows what was changed meanwhile', async () => {
    const page = await pageOf(browser, suite, await suite.signUp('free'));
    const topUp = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      if ((await response.text()).includes('"ledgerMonth"')) {
        read.resolve();
        await topUp.promise;
      }
      await route.fulfill({ response });
    });
    await page.goto('/dashboard/billing');
    await read.promise;
    await page.getByRole('button', { name: 'Add $25' }).click();
    await page.getByText('Added $25.').waitFor();
    topUp.resolve();
    await page.getByRole('region', { name: 'Ledger' }).getByText('Top-up').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });
});
