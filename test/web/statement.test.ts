import { signUpAdmin } from '../support/admin.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { expectGoodLooks, holdAnswers, openAs, pageOf, twoWeeksOfCalls } from './dashboard.js';

describeInBrowser('the statement of a month', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('is linked from the ledger, adds up, downloads as CSV, and is printed without the layout', async () => {
    const user = await suite.signUp('team');
    await twoWeeksOfCalls(suite.db, user);
    const page = await openAs(browser, suite, user, '/dashboard/billing');
    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByRole('heading', { name: /^Statement, \w+ 20\d\d$/ }).waitFor();
    const { by_model: models, closing_balance_usd: closing } = await suite.api<{
      by_model: { model_public_name: string }[];
      closing_balance_usd: string;
    }>(user.token, 'GET', `/api/billing/statements/${new Date().toISOString().slice(0, 7)}`);
    const rows = page.getByRole('region', { name: 'Charges by model' }).locator('tbody tr');
    await rows.filter({ hasText: models[0]!.model_public_name }).waitFor();
    expect(await rows.count()).toBe(models.length);
    const tile = page.locator('dl > div').filter({ hasText: 'Balance so far' });
    expect((await tile.innerText()).replace(/[^\d.-]/g, '')).toBe(closing.replace(/0+$/, ''));
    await expectGoodLooks(page, 'statement');
    await page
      .getByRole('link', { name: /^\w+ 20\d\d$/ })
      .first()
      .click();
    await page.getByText('Closing balance').waitFor();
    await page.goBack();
    await tile.waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^statement-20\d\d-\d\d\.csv$/);
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('banner').waitFor({ state: 'hidden' });
    expect(await page.getByRole('heading', { name: 'By day' }).isVisible()).toBe(true);
  });

  test('prints without the layout, at the widths of paper and screen', async () => {
    const user = await suite.signUp('free');
    const admin = await signUpAdmin(suite);
    await suite.api(admin.token, 'POST', `/api/admin/users/${user.accountId}/credit-adjustments`, {
      amount_usd: '-1',
      reason: 'Of a test',
    });
    const month = new Date().toISOString().slice(0, 7);
    const page = await openAs(browser, suite, user, `/dashboard/billing/statements/${month}`);
    await page.getByRole('heading', { name: 'By day' }).waitFor();
    const around = [
      page.getByRole('navigation', { name: 'Pages' }),
      page.getByRole('button', { name: 'Menu' }),
      page.getByText('Calls stopped.'),
    ];
    const seen = () => Promise.all(around.map((part) => part.isVisible()));
    await around[2]!.waitFor();
    for (const [width, shown] of [
      [1280, [true, false, true]],
      [760, [false, true, true]],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ media: 'screen' });
      expect([width, await seen()]).toEqual([width, shown]);
      await page.emulateMedia({ media: 'print' });
      expect([width, await seen()]).toEqual([width, [false, false, false]]);
    }
  });

  test('of the current month follows each call', async () => {
    const user = await suite.signUp('team');
    const month = new Date().toISOString().slice(0, 7);
    const page = await openAs(browser, suite, user, `/dashboard/billing/statements/${month}`);
    await page.getByText('No charged calls.').first().waitFor();
    const models = page.getByRole('region', { name: 'Charges by model' });
    // The first may have come with the answers after the page's first ones; the second comes sooner than polling would bring it.
    for (const calls of ['1', '2']) {
      expect((await postChat(suite.url, user.key)).status).toBe(200);
      await models.getByRole('cell', { name: calls, exact: true }).waitFor({ timeout: 20_000 });
    }
  });

  test('doesn’t show an account before it is loaded', async () => {
    const user = await suite.signUp('free');
    const page = await pageOf(browser, suite, user);
    const { held, release } = await holdAnswers(page, 'closingBalanceUsd');
    await page.goto(`/dashboard/billing/statements/${new Date().toISOString().slice(0, 7)}`);
    await held;
    const lead = page.getByText('Days are in UTC.');
    await lead.waitFor();
    expect(await lead.innerText()).toMatch(/^Days are in UTC\./);
    release();
    await page.getByText(/<.+@.+>\. Days are in UTC\./).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('of an invalid month shows an error', async () => {
    const user = await suite.signUp('free');
    const page = await openAs(browser, suite, user, '/dashboard/billing/statements/2099-01');
    await page.getByRole('heading', { name: 'No statement for this month' }).waitFor();
    await page.goto('/dashboard/billing/statements/never');
    await page.getByRole('heading', { name: 'No statement for this month' }).waitFor();
  });
});
