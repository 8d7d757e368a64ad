import type { Page } from 'playwright-core';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { costing, flushWhenFree, recordOf } from '../metering/support.js';
import { signUp } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { expectGoodLooks, openAs } from './dashboard.js';

const DAY_MS = 86_400_000;

/** Refused calls, and a balance that runs out. */
describeInBrowser('why calls are refused', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('is shown with advice in the first run, then on the key’s page and the overview', async () => {
    const { token } = await signUp(suite.url);
    const page = await openAs(browser, suite, { token }, '/dashboard');
    await page.getByRole('button', { name: 'Create my first key' }).click();
    const key = await page.getByRole('region', { name: 'API key' }).innerText();
    await page.getByText('Waiting for your first call').waitFor();
    expect((await postChat(suite.url, key, { model: 'gateway/qwen-pro' })).status).toBe(403);
    await page
      .getByText('A call arrived and was rejected with 403 model_not_allowed for gateway/qwen-pro.')
      .waitFor();
    await page.getByText('The plan does not include the model').waitFor();
    await expectGoodLooks(page, 'first-run-refused');
    expect((await postChat(suite.url, key)).status).toBe(200);
    await page.getByText('Your first call has arrived').waitFor();
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('button', { name: 'Show usage' }).click();

    const refused = page.getByRole('region', { name: 'Rejected calls' });
    await refused.getByRole('rowheader', { name: '403 model_not_allowed' }).waitFor();
    await refused.getByRole('link', { name: 'My first key' }).click();
    await page.getByText('1 call was rejected today (UTC), the latest with 403 model_not_allowed').waitFor();
    await page.getByRole('switch').click();
    await page.getByText('disabled').first().waitFor();
    // The edge may need a moment to apply it. Each call until then counts towards the plan's 20 a minute.
    await until(async () => (await postChat(suite.url, key)).status === 401, {
      what: 'calls to be refused',
      intervalMs: 500,
    });
    await page
      .getByText(/2 calls were rejected today \(UTC\), the latest with 401 invalid_api_key/)
      .waitFor();
    await page.getByText('The key is disabled. Enable it, or call with another one.').waitFor();
    await expectGoodLooks(page, 'key-refused');
  });

  test('an empty balance: a bar on every page until there is credit, and how long the credit lasts', async () => {
    const user = await suite.signUp('free');
    await suite.db.pool.query(
      `with a as (
         update accounts set balance = 0, ledger_seq = ledger_seq + 1 where id = $1
         returning old.balance as before, new.ledger_seq as seq)
       insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
       select $2, $1, seq, 'adjustment', -before, 0, now() from a`,
      [user.accountId, newId()],
    );
    const page = await openAs(browser, suite, user, '/dashboard/alerts');
    const bar = page.getByRole('main').getByText('Calls stopped.');
    await bar.waitFor();
    await expectGoodLooks(page, 'stopped');
    await goTo(page, 'Profile');
    await page.getByRole('heading', { level: 1, name: 'Profile', exact: true }).waitFor();
    await bar.waitFor();
    await page.getByRole('link', { name: 'Add credit' }).click();
    await page.getByText('$50', { exact: true }).click();
    await page.getByRole('button', { name: 'Add $50' }).click();
    await bar.waitFor({ state: 'hidden' });
    await page.getByRole('banner').getByText('Balance', { exact: true }).waitFor();

    const spent = (cost: bigint) =>
      flushWhenFree(suite.db.pool, [
        recordOf(user, { createdAt: Date.now() - 6 * DAY_MS, ...costing(cost) }),
      ]);
    await spent(18n * DOLLAR);
    await page.reload();
    await page.getByText(/^Lasts about 1[0-3] days at the rate of the past week$/).waitFor();
    await page.getByRole('banner').getByText('Balance', { exact: true }).waitFor();
    // The balance lasts between one and one and a half days, whatever the time of day.
    await spent(24n * DOLLAR);
    await page.reload();
    await page
      .getByRole('banner')
      .getByText(/^Balance low, lasts about 1 day$/)
      .waitFor();
  });

  const goTo = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
});
