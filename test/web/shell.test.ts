import type { Page } from 'playwright-core';
import { newId } from '../../src/lib/ids.js';
import { call, PASSWORD } from '../support/api.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, screenshot, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import { expectGoodLooks, goInside, hasFocus, keepAs, openAs } from './dashboard.js';

/** The layout around every page for signed-in users. */
describeInBrowser('the shell of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('free');
  });

  const keep = async (who = user): Promise<Page> => {
    const page = await keepAs(browser, suite, who, '/dashboard');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  };
  const setBalance = (accountId: string, amount: string): Promise<unknown> =>
    suite.db.pool.query(
      `with a as (
         update accounts set balance = $2, ledger_seq = ledger_seq + 1 where id = $1
         returning old.balance as before, new.balance as after, new.ledger_seq as seq)
       insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
       select $3, $1, seq, 'adjustment', after - before, after, now() from a`,
      [accountId, amount, newId()],
    );

  test('shows the balance, exactly at the pointer, and each charge without a reload; announces that it is used up, but no single charge', async () => {
    const own = await suite.signUp('free');
    const page = await keep(own);
    const banner = page.getByRole('banner');
    await banner.getByText('$1.00').waitFor();
    expect((await postChat(suite.url, own.key)).status).toBe(200);
    await suite.settled();
    const { rows } = await suite.db.pool.query<{ balance: string }>(
      'select balance::text from accounts where id = $1',
      [own.accountId],
    );
    const exact = rows[0]!.balance.replace(/0+$/, '');
    expect(exact).toMatch(/^0\.99\d{4,}$/);
    const shown = banner.getByTitle(`$${exact}`);
    await shown.waitFor();
    expect(await shown.innerText()).toBe(`$${Number(exact).toFixed(2)}`);
    expect(await banner.locator('[aria-live]').count()).toBe(0);

    for (const [amount, words, announced] of [
      ['0.000500', 'Calls stopped < $0.01', 'The balance is used up'],
      ['12.340000', 'Balance $12.34', 'The balance is no longer low'],
    ] as const) {
      await setBalance(own.accountId, amount);
      await until(
        async () => {
          await page.evaluate('window.dispatchEvent(new Event("focus"))');
          return banner.getByRole('status').filter({ hasText: announced }).isVisible();
        },
        { what: announced },
      );
      await page.getByText(words, { exact: true }).waitFor();
    }
  });

  test('the command palette opens by its keys, finds by a few letters, and gives the focus back', async () => {
    const page = await keep();
    // Waits for the page's title, which takes the focus, and for the header's data: after that, nothing takes the focus.
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('banner').getByText('$1.00').waitFor();
    const button = page.getByRole('button', { name: 'Commands' });
    await button.focus();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Type a command' });
    await field.waitFor();
    await expectAccessible(page);
    await screenshot(page, 'command-palette');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'hidden' });
    await until(() => button.evaluate((element) => element === element.ownerDocument.activeElement), {
      what: 'the focus to be back',
    }).catch(async () => {
      const focused = await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 300)');
      throw new Error(`the focus did not come back to the button, but is on ${focused}`);
    });

    await page.keyboard.press('Control+k');
    await hasFocus(field);
    await page.keyboard.type('appearance');
    await page.getByRole('option', { name: 'Theme: light', selected: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await field.waitFor({ state: 'hidden' });
    // The pages of other tests follow the system.
    await page.getByRole('button', { name: 'Theme: dark. Change to system' }).click();
    await page.locator('html[data-mantine-color-scheme=light]').waitFor();
    await page.keyboard.press('Control+k');
    await hasFocus(field);
    await page.keyboard.type('xyz');
    await page.getByText('No matching command.').waitFor();
    await field.fill('new widget');
    await page.getByRole('option', { name: 'Create a widget', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { level: 1, name: 'Create a widget' }));
    await page.keyboard.press('Control+k');
    await field.fill('new alert');
    await page.getByRole('option', { name: 'Create an alert', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create an alert' }).waitFor();
  });

  test('the command palette scrolls to the command that the arrows have chosen', async () => {
    const page = await keep();
    await page.getByRole('button', { name: 'Commands' }).click();
    const commands = page.getByRole('listbox', { name: 'Commands' });
    await commands.waitFor();
    await hasFocus(page.getByRole('combobox', { name: 'Type a command' }));
    const isSeen = async (): Promise<boolean> => {
      const all = (await commands.boundingBox())!;
      const chosen = (await commands.getByRole('option', { selected: true }).boundingBox())!;
      return chosen.y >= all.y && chosen.y + chosen.height <= all.y + all.height;
    };
    // Up from the first command leads to the last.
    await page.keyboard.press('ArrowUp');
    await commands.getByRole('option', { selected: true }).and(commands.getByRole('option').last()).waitFor();
    await until(isSeen, { what: 'the last command to be seen' });
    await page.keyboard.press('ArrowDown');
    await commands
      .getByRole('option', { selected: true })
      .and(commands.getByRole('option').first())
      .waitFor();
    await until(isSeen, { what: 'the first command to be seen' });
    // It belongs to the layout, and would stay over the next page, too.
    await page.keyboard.press('Escape');
    await commands.waitFor({ state: 'hidden' });
  });

  test('a session that ends elsewhere leads to the log-in by itself, and back to the page', async () => {
    const own = await suite.signUp('free');
    const page = await openAs(browser, suite, own, '/dashboard?window=30');
    await page.getByText(/^Balance/).waitFor();
    await call(suite.url, 'POST', '/api/auth/logout', { token: own.token });
    await page.waitForURL('**/login?next=*');
    await page.getByText('Your session has ended.').waitFor();
    const { rows } = await suite.db.pool.query<{ email: string }>(
      'select email from accounts where id = $1',
      [own.accountId],
    );
    await page.getByLabel('Email').fill(rows[0]!.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/dashboard?window=30');
  });

  test('is accessible and fits in both themes and widths, also with its menu open', async () => {
    const page = await keep();
    await page.getByText(/^Balance/).waitFor();
    await expectGoodLooks(page, 'overview');
    await page.getByRole('button', { name: 'Account' }).click();
    const logOut = page.getByRole('menuitem', { name: 'Log out' });
    await logOut.waitFor();
    await expectGoodLooks(page, 'account-menu');
    expect(await logOut.isVisible()).toBe(true);
  });

  test('is shown around an unknown address, too', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/nowhere');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await expectGoodLooks(page, 'not-found');
    await page.getByRole('navigation').getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await goInside(page, '/admin/nowhere');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });
});
