import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { expectGoodLooks, openAs } from './dashboard.js';

const ASK = 'To add credit, ask an administrator of this installation.';

describeInBrowser('where users can not add credit', () => {
  const browser = useBrowser();
  const suite = useProduct({ env: { TOPUP: 'off' } });

  test('the pages say so instead of offering a button that fails', async () => {
    const user = await suite.signUp('free');
    await suite.db.pool.query('update accounts set balance = 0 where id = $1', [user.accountId]);
    const page = await openAs(browser, suite, user, '/dashboard/billing');
    // On the page, and in the bar that says that calls have stopped.
    await page.getByText(ASK).nth(1).waitFor();
    await page.getByRole('table').first().waitFor();
    expect(await page.getByText('Add credit', { exact: true }).count()).toBe(0);
    await expectGoodLooks(page, 'billing-top-up-off');
    await suite.db.pool.query('update accounts set balance = 1 where id = $1', [user.accountId]);
  });
});
