import type { Page } from 'playwright-core';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { callsOf, openAs } from './dashboard.js';

/** Waits until the element has the focus. */
const focused = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor();

/** Keyboard users keep their place when the control they used is disabled or removed. */
describeInBrowser('the focus', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('free');
    await flushWhenFree(suite.db.pool, [
      recordOf(user, { createdAt: Date.now() - 2_000 }),
      recordOf(user, { createdAt: Date.now() - 1_000 }),
    ]);
  }, 60_000);

  test('returns to the row whose drawer was closed', async () => {
    const page = await openAs(browser, suite, user, '/dashboard/usage');
    const row = callsOf(page).getByRole('row').nth(2).getByRole('link').first();
    await row.focus();
    const href = (await row.getAttribute('href'))!;
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Call' }).getByText('Request ID').waitFor();
    await page.keyboard.press('Escape');
    await focused(page, `a[href=${JSON.stringify(href)}]`);
  });

  test('stays on a switch, and returns to a saved value', async () => {
    const page = await openAs(browser, suite, user, `/dashboard/keys/${user.keyId}?tab=caps`);
    await page.getByRole('button', { name: 'Edit monthly limit' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Monthly limit', { exact: true }).fill('7');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit monthly limit' }).waitFor();
    await page.locator('button:focus', { hasText: 'Edit monthly limit' }).waitFor();
    const active = page.getByRole('switch');
    await active.focus();
    await page.keyboard.press('Space');
    await page.getByText('Undo').waitFor();
    await focused(page, '[role=switch]');
    await page.keyboard.press('Space');
    await focused(page, '[role=switch]');
  });

  test('begins in the field of the limit that alerts ask for', async () => {
    const other = await suite.signUp('free');
    const page = await openAs(browser, suite, other, `/dashboard/keys/${other.keyId}?tab=alerts`);
    await page.getByRole('link', { name: 'Set a monthly limit' }).focus();
    await page.keyboard.press('Enter');
    await focused(page, 'input[aria-label="Monthly limit"]');
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await page.getByText('of $5.00').waitFor();
  });

  test('isn’t restored after the user moved it', async () => {
    const page = await openAs(browser, suite, user, '/dashboard/usage');
    const row = callsOf(page).getByRole('row').nth(1).getByRole('link').first();
    await row.focus();
    await page.evaluate('document.activeElement.blur()');
    // The element is there and enabled: later changes of the page don't restore the focus.
    await flushWhenFree(suite.db.pool, [recordOf(user, { createdAt: Date.now() })]);
    await page.getByText('3 calls').waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).not.toBe('A');
  });
});
