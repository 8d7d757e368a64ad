import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { holdAnswers, pageOf } from './dashboard.js';

describeInBrowser('a page whose data is still on its way', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('shows a change made meanwhile', async () => {
    const page = await pageOf(browser, suite, await suite.signUp('free'));
    const reads = await holdAnswers(page, '"ledgerMonth"');
    await page.goto('/dashboard/billing');
    await reads.held;
    await page.getByRole('button', { name: 'Add $25' }).click();
    await page.getByText('Added $25.').waitFor();
    reads.release();
    await page.getByRole('region', { name: 'Ledger' }).getByText('Top-up').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });
});
