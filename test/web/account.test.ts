import type { Page } from 'playwright-core';
import { insertCredits } from '../billing/fixtures.js';
import { documentIdOf } from '../graphql/support.js';
import { call, PASSWORD } from '../support/api.js';
import { describeInBrowser, NARROW, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { holdAnswers, keepAs, pageOf } from './dashboard.js';

/** Money and profile of an account, as its owner uses them. */
describeInBrowser('billing and profile of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  /** For tests that don't depend on what others have done with the account. */
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('free');
  });

  const open = (path: string, owner = user): Promise<Page> => keepAs(browser, suite, owner, path);
  const emailOf = async ({ token }: StackUser): Promise<string> =>
    (await suite.api<{ email: string }>(token, 'GET', '/api/auth/me')).email;

  test('shows plans side by side, and adds credit at once by keyboard; the ledger lists credit and charges', async () => {
    const owner = await suite.signUp('free');
    const page = await open('/dashboard/billing', owner);
    await page.getByText('Mock: no card is charged').waitFor();
    const plans = page.getByRole('region', { name: 'Plans' });
    const own = plans.getByRole('row').filter({ hasText: 'yours' });
    expect(await own.innerText()).toContain('gateway/fast, gateway/embed');
    expect(await own.count()).toBe(1);
    expect(await own.getByRole('rowheader').innerText()).toContain('free');
    await page.getByText('ask an administrator of this installation').waitFor();

    await page.getByRole('radio', { name: '$25' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Add $50' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Added $50.').waitFor();
    await page.getByRole('banner').getByText('$51.00').waitFor();
    const ledger = page.getByRole('region', { name: 'Ledger' }).locator('tbody tr');
    await ledger.filter({ hasText: 'Top-up' }).waitFor();
    expect((await ledger.first().innerText()).split('\t')).toEqual([
      'Top-up',
      '+$50.00',
      '$51.00',
      expect.any(String),
    ]);
    expect((await postChat(suite.url, owner.key)).status).toBe(200);
    // The charges of the day are one line, which opens.
    await page.getByRole('button', { name: '1 call' }).click();
    const charges = page.getByRole('region', { name: /^Charges of/ }).locator('tbody tr');
    await charges.filter({ hasText: 'gateway/fast' }).waitFor();
    const { rows } = await suite.db.pool.query<{ balance: string }>(
      'select trim_scale(51 - balance)::text as balance from accounts where id = $1',
      [owner.accountId],
    );
    const spent = rows[0]!.balance;
    expect(await ledger.first().innerText()).toContain(`-$${spent}`);
    expect(await charges.first().innerText()).toContain(`$${spent}`);
    // Amounts are aligned at the decimal point.
    const amounts = page
      .getByRole('region', { name: 'Entries of the month' })
      .locator('> table > tbody > tr > td:nth-child(2)');
    const points = await amounts.evaluateAll((cells) =>
      (
        cells as unknown as {
          querySelector(css: string): { lastElementChild: { getBoundingClientRect(): { x: number } } } | null;
        }[]
      )
        .map((cell) => cell.querySelector('span'))
        .flatMap((span) => (span ? [Math.round(span.lastElementChild.getBoundingClientRect().x)] : [])),
    );
    expect([points.length, new Set(points).size]).toEqual([3, 1]);
    await page.getByRole('button', { name: 'Credits' }).click();
    await page.waitForURL('**/dashboard/billing?show=credits');
    await page.getByRole('button', { name: '1 call' }).waitFor({ state: 'detached' });
    expect(await ledger.count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',').slice(1, 3))).toEqual([
      ['topup', '50.000000'],
      ['starter', '1.000000'],
    ]);
  });

  test('a failed top-up hides the success message of the previous one', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/billing', { expectedErrors: /ERR_FAILED/ });
    const add = page.getByRole('button', { name: 'Add $25' });
    const added = page.getByText('Added $25.');
    await add.click();
    await added.waitFor();
    const document = documentIdOf('mutation TopUp');
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes(document) ? route.abort() : route.fallback(),
    );
    await add.click();
    await page.getByRole('alert').getByText('The server can’t be reached.').waitFor();
    expect(await added.count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await add.click();
    await added.waitFor();
    await page.getByText('$100', { exact: true }).click();
    expect(await added.count()).toBe(0);
  });

  test('a day of the ledger opens with its calls on a phone, too', async () => {
    expect((await postChat(suite.url, user.key)).status).toBe(200);
    await suite.settled();
    const page = await open('/dashboard/billing');
    await page.setViewportSize(NARROW);
    await page.getByRole('button', { name: '1 call' }).click();
    const charges = page.getByRole('region', { name: /^Charges of/ });
    await charges.getByText('gateway/fast').waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBe(NARROW.width);
  });

  test('a password is changed, and a wrong one is refused', async () => {
    const page = await open('/dashboard/profile');
    const change = async (current: string, next: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Current password' }).fill(current);
      await page.getByRole('textbox', { name: 'New password' }).fill(next);
      await page.getByRole('button', { name: 'Change password' }).click();
    };
    await change('not the password', `${PASSWORD} 2`);
    const expectFault = async (field: string, words: string): Promise<void> => {
      const fault = page.getByText(words);
      await fault.waitFor();
      const described = await page.getByRole('textbox', { name: field }).getAttribute('aria-describedby');
      expect(described?.split(' ')).toContain(await fault.getAttribute('id'));
    };
    await expectFault('Current password', 'The current password is wrong.');
    await change(PASSWORD, 'password');
    await expectFault('New password', 'Is one of the most common passwords');
    await page.getByRole('textbox', { name: 'New password' }).fill('something else');
    await page.getByText('Is one of the most common passwords').waitFor({ state: 'detached' });
    const saved = await holdAnswers(page, '"changePassword"');
    await change(PASSWORD, `${PASSWORD} 2`);
    await saved.held;
    // What was typed now would be lost with the answer.
    for (const field of ['Current password', 'New password'])
      expect(await page.getByRole('textbox', { name: field }).isEditable()).toBe(false);
    saved.release();
    await page.getByText('Your password was changed').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    const login = await call(suite.url, 'POST', '/api/auth/login', {
      body: { email: await emailOf(user), password: `${PASSWORD} 2` },
    });
    expect(login.status).toBe(200);
  });

  test('a month with more than 500 credits says where to find the older ones', async () => {
    await insertCredits(suite.db, user.accountId, 500);
    const page = await open('/dashboard/billing');
    const notice = page.getByText('Only the newest 500 credits of the month are shown. The CSV has all.');
    await notice.waitFor();
    await page.getByRole('button', { name: 'Charges' }).click();
    await notice.waitFor({ state: 'detached' });
  });

  test('deleting an account takes its email address and password, and deletes its keys', async () => {
    const owner = await suite.signUp('free');
    const email = await emailOf(owner);
    const page = await open('/dashboard/profile', owner);
    await page.getByRole('button', { name: 'Delete account' }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.getByRole('button', { name: 'Delete account' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await dialog.getByLabel('Type the email address').fill('another@example.com');
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the email address').fill(email);
    await remove.click();
    await page.waitForURL('**/signup');
    expect((await postChat(suite.url, owner.key)).status).toBe(401);
    const { rows } = await suite.db.pool.query('select 1 from accounts where email = $1', [email]);
    expect(rows).toEqual([]);
  });

  test('a page that can’t be loaded shows an error with the request id, and loads again by a click', async () => {
    const page = await pageOf(browser, suite, await suite.signUp('free'), {
      expectedErrors: /50[03]|status of 500/,
    });
    // Without the live connection, which would refresh the page by itself once it opens.
    await page.routeWebSocket(/graphql/, () => undefined);
    let broken = true;
    await page.route('**/graphql', async (route) => {
      const isLedger = route.request().postData()?.includes('"month"') ?? false;
      if (!broken || !isLedger) return route.fallback();
      return route.fulfill({
        status: 200,
        headers: { 'x-request-id': 'request-of-the-test' },
        json: {
          data: { viewer: null },
          errors: [{ message: 'Something went wrong.', extensions: { code: 'internal_error' } }],
        },
      });
    });
    await page.goto('/dashboard/billing');
    await page.getByRole('alert').getByText('request-of-the-test').waitFor();
    broken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Starter credit').waitFor();
  });
});
