import type { Page } from 'playwright-core';
import { DOLLAR } from '../../src/lib/money.js';
import { costing, flushWhenFree, recordOf } from '../metering/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, PASSWORD } from '../support/api.js';
import { describeInBrowser, NARROW, useBrowser } from '../support/browser.js';
import { errorOf, postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import {
  answerWith,
  callsOf,
  clickToCopy,
  expectGoodLooks,
  goInside,
  hasFocus,
  holdAnswers,
  keepAs,
  openAs,
  questionsOnReload,
} from './dashboard.js';

/** Key management by the owner, and its effect on callers. */
describeInBrowser('the keys of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let owner: StackUser;
  let user: StackUser;
  beforeAll(async () => {
    owner = await suite.signUp('team');
  });
  /** Each test begins with one new key. */
  beforeEach(async () => {
    const former = await suite.api<{ id: string }[]>(owner.token, 'GET', '/api/keys');
    for (const { id } of former) await suite.api(owner.token, 'DELETE', `/api/keys/${id}`);
    const made = await suite.api<{ key: string; api_key: { id: string } }>(owner.token, 'POST', '/api/keys', {
      name: 'of a test',
    });
    user = { ...owner, keyId: made.api_key.id, key: made.key };
  });

  const open = (path: string): Promise<Page> => keepAs(browser, suite, owner, path);
  let poor: StackUser | undefined;
  /** An account on the free plan, for tests that need little credit, or no other keys. */
  const signUpPoor = async (): Promise<StackUser> => (poor ??= await suite.signUp('free'));
  const dialog = (page: Page) => page.getByRole('dialog');
  const statusOf = async (): Promise<number> => (await postChat(suite.url, user.key)).status;

  test('a key is created by keyboard, shown once, and not lost by accident', async () => {
    const page = await open('/dashboard/keys');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    await page.getByRole('link', { name: 'of a test' }).waitFor();
    await page.keyboard.press('Control+k');
    await hasFocus(page.getByRole('combobox', { name: 'Type a command' }));
    await page.keyboard.type('create');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/keys?create=true');
    await hasFocus(dialog(page).getByLabel('Name'));
    await page.keyboard.type('ci');
    await page.keyboard.press('Enter');
    const secret = dialog(page).getByRole('region', { name: 'API key' });
    await secret.waitFor();
    const key = await secret.innerText();
    // The palette would lead away from it.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('billing');
    expect(await page.getByRole('combobox', { name: 'Type a command' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog(page).getByText('You haven’t copied the key').waitFor();
    expect(await secret.innerText()).toBe(key);
    await clickToCopy(dialog(page).getByRole('button', { name: 'Copy key' }));
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(key);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await page.waitForURL('**/dashboard/keys');
    await page.getByRole('link', { name: 'ci', exact: true }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain(key);
    expect((await postChat(suite.url, key)).status).toBe(200);

    // Going back asks like the others, and loses the key.
    const make = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Create key' }).click();
      await dialog(page).getByLabel('Name').fill(name);
      await page.keyboard.press('Enter');
      await secret.waitFor();
    };
    await make('forgotten');
    await page.evaluate('history.back()');
    await dialog(page).getByText('You haven’t copied the key').waitFor();
    // The browser has gone back and is moved forward again.
    await page.waitForURL('**/dashboard/keys?create=true');
    await page.evaluate('history.back()');
    await dialog(page).waitFor({ state: 'hidden' });
    await make('copied');
    await clickToCopy(dialog(page).getByRole('button', { name: 'Copy key' }));
    await page.evaluate('history.back()');
    await dialog(page).waitFor({ state: 'hidden' });
    // Closing leads to the list, and going back leads on from there.
    const goTo = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
    await goTo('Billing');
    await page.waitForURL('**/dashboard/billing');
    await goTo('API keys');
    await make('saved');
    const isClosed = () => page.waitForURL(/\/dashboard\/keys$/);
    await dialog(page).getByRole('button', { name: 'I’ve saved it' }).click();
    await isClosed();
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await isClosed();
    await dialog(page).waitFor({ state: 'hidden' });
    await page.evaluate('history.back()');
    await page.waitForURL('**/dashboard/billing');
  });

  test('a key that was not copied stays while another tab logs in to another account; once copied, the page reloads', async () => {
    const next = await suite.signUp('team');
    user = await suite.signUp('team');
    const page = await openAs(browser, suite, user, '/dashboard/keys?create=true', {
      expectedErrors: /40[19]/,
    });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    await dialog(page).getByLabel('Name').fill('ci');
    await page.keyboard.press('Enter');
    const secret = dialog(page).getByRole('region', { name: 'API key' });
    const key = await secret.innerText();
    const asked: string[] = [];
    page.on('dialog', (question) => {
      asked.push(question.type());
      void question.dismiss();
    });
    let refused = 0;
    page.on('response', (response) => void (response.status() === 409 && refused++));
    const replaceCookie = () =>
      page.context().addCookies([{ name: 'pr_session', value: next.token, url: suite.url }]);
    await replaceCookie();
    // Like the log-in in the other tab.
    await call(suite.url, 'POST', '/api/auth/logout', { token: user.token });
    await until(
      async () => {
        // A pending answer restores the former cookie.
        await replaceCookie();
        await page.evaluate('window.dispatchEvent(new Event("focus"))');
        return refused > 1;
      },
      { what: 'the refusals of what the page reads again' },
    );
    expect(await secret.innerText()).toBe(key);
    const reloaded = page.waitForRequest(
      (request) => request.headers()['x-gateway-account'] === next.accountId,
    );
    await dialog(page).getByRole('button', { name: 'Copy key' }).click();
    await reloaded;
    await secret.waitFor({ state: 'hidden' });
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(key);
    expect(asked).toEqual([]);
  });

  test('a key that was not copied: a reload asks first, and the key survives the end of the session; drafts are there after the next log-in', async () => {
    user = await suite.signUp('team');
    const page = await openAs(browser, suite, user, '/dashboard/keys?create=true');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    await dialog(page).getByLabel('Name').fill('ci');
    await page.keyboard.press('Enter');
    const secret = dialog(page).getByRole('region', { name: 'API key' });
    const first = await secret.innerText();
    const asked = await questionsOnReload(page);
    expect(await secret.innerText()).toBe(first);
    await dialog(page).getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('link', { name: 'ci', exact: true }).waitFor();
    expect(asked).toEqual(['beforeunload']);

    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog(page).getByLabel('Name').fill('another');
    await page.keyboard.press('Enter');
    const second = await secret.innerText();
    expect(second).not.toBe(first);
    await call(suite.url, 'POST', '/api/auth/logout', { token: user.token });
    await dialog(page).getByText('Your session has ended. Copy the key first').waitFor();
    expect(await secret.innerText()).toBe(second);
    await dialog(page).getByRole('button', { name: 'Copy key' }).click();
    await page.waitForURL('**/login?next=*');
    await page.getByText('Your session has ended. Log in to continue.').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(second);

    const { rows } = await suite.db.pool.query<{ email: string }>(
      'select email from accounts where id = $1',
      [user.accountId],
    );
    const logIn = async (): Promise<void> => {
      await page.getByLabel('Email').fill(rows[0]!.email);
      await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL('**/dashboard/keys?create=true');
      await dialog(page).waitFor();
    };
    await logIn();
    await dialog(page).getByLabel('Name').fill('half a na');
    const cookies = await page.context().cookies();
    await call(suite.url, 'POST', '/api/auth/logout', { token: cookies[0]!.value });
    await page.waitForURL('**/login?next=*');
    await logIn();
    expect(await dialog(page).getByLabel('Name').inputValue()).toBe('half a na');
  });

  test('a daily cap is edited in place and refuses calls at once; it can be removed and restored by "Undo"', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    expect(await statusOf()).toBe(200);
    await suite.settled();
    await page
      .getByText(/^\$0\.0000\d+, no limit$/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Edit daily cap' }).click();
    await page.getByRole('textbox', { name: 'Daily cap' }).fill('a lot');
    await page.keyboard.press('Enter');
    await page.getByText('Must be an amount such as 12.50').waitFor();
    await page.getByRole('textbox', { name: 'Daily cap' }).fill('1000001');
    await page.getByText('Must be an amount such as 12.50').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByText('Must be at most $1,000,000').waitFor();
    await page.getByRole('textbox', { name: 'Daily cap' }).fill('0.000001');
    await page.keyboard.press('Enter');
    await page.getByText('of $0.000001 reached').waitFor();
    await page.getByText('The daily cap rejects calls with 402.').waitFor();
    await until(async () => (await statusOf()) === 402, { what: 'the cap to refuse' });
    expect((await errorOf(await postChat(suite.url, user.key))).code).toBe('daily_cap_exceeded');
    await page
      .getByText(/resets at \d{4}-\d\d-\d\d 00:00 UTC/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Remove cap' }).click();
    await page.getByText('of $0.000001').waitFor({ state: 'detached' });
    await until(async () => (await statusOf()) === 200, { what: 'calls to pass again' });
    await page.getByRole('button', { name: 'Undo for daily cap' }).click();
    await page.getByText('of $0.000001 reached').waitFor();
    await until(async () => (await statusOf()) === 402, { what: 'the cap to refuse again' });
    expect(await page.getByText('Cap removed.').count()).toBe(0);
  });

  test('a value can’t be edited while it is saved, since the answer would replace the text', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    await page.getByRole('button', { name: 'Edit daily cap' }).click();
    const cap = page.getByRole('textbox', { name: 'Daily cap' });
    await cap.fill('5');
    const saved = await holdAnswers(page, '"setApiKeyLimits"');
    await cap.press('Enter');
    await saved.held;
    expect(await cap.isEditable()).toBe(false);
    await hasFocus(cap);
    saved.release();
    await page.getByText('of $5.00').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('changes of a key aren’t shown on the page of another', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    await suite.api(user.token, 'PATCH', `/api/keys/${user.keyId}`, { daily_limit_usd: 5 });
    const another = await suite.api<{ api_key: { id: string } }>(user.token, 'POST', '/api/keys', {
      name: 'another',
    });
    await page.getByRole('button', { name: 'Remove cap' }).click();
    await page.getByText('Cap removed.').waitFor();
    // Like the link of an alert, which leads from key to key.
    await page.evaluate(`history.pushState(null, '', '/dashboard/keys/${another.api_key.id}?tab=caps')`);
    await page.getByRole('heading', { level: 1, name: 'another' }).waitFor();
    expect(await page.getByText('Cap removed.').count()).toBe(0);
  });

  test('a saved cap is shown before it is loaded again', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    await page.getByRole('button', { name: 'Edit daily cap' }).click();
    await page.getByRole('textbox', { name: 'Daily cap' }).fill('5');
    // Mutations are answered. Later queries are held back.
    const reads = await holdAnswers(page, '"viewer"');
    await page.keyboard.press('Enter');
    await page.getByText('$5', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Edit daily cap' }).isDisabled()).toBe(true);
    reads.release();
    await page.getByText('of $5').first().waitFor();
    expect(await page.getByRole('button', { name: 'Edit daily cap' }).isEnabled()).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('limit and guard are removed once, however often the button is clicked, and restored by "Undo"', async () => {
    const limits = { monthly_limit_usd: 5, guard: { at_pct: 90, action: 'disable' } };
    await suite.api(user.token, 'PATCH', `/api/keys/${user.keyId}`, limits);
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    for (const [name, answer] of [
      ['Remove guard', '"guard":null'],
      ['Remove limit', '"monthlyLimitUsd":null'],
    ] as const) {
      const button = page.getByRole('button', { name });
      await button.waitFor();
      const { held, release } = await holdAnswers(page, answer);
      await button.dblclick();
      await held;
      const isDisabled = await button.isDisabled();
      const [own, spinner] = [
        await button.boundingBox(),
        await button.locator('.mantine-Button-loader').boundingBox(),
      ];
      release();
      await button.waitFor({ state: 'detached' });
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      expect(isDisabled).toBe(true);
      // The loader is centered, even without motion.
      expect(spinner!.x + spinner!.width / 2 - own!.x - own!.width / 2).toBeCloseTo(0, 0);
      expect(spinner!.y + spinner!.height / 2 - own!.y - own!.height / 2).toBeCloseTo(0, 0);
      expect(await page.getByText('It was changed elsewhere').count()).toBe(0);
    }
    await page.getByRole('button', { name: 'Undo for monthly limit' }).click();
    await page.getByText('of $5.00').waitFor();
    await page.getByRole('button', { name: 'Undo for guard' }).click();
    await page.getByText('At 90% of the monthly limit, calls are rejected.').waitFor();
  });

  test('a name is changed by keyboard, and Escape leaves it as it was', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    const edit = page.getByRole('button', { name: 'Edit name' });
    await edit.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('never mind');
    await page.keyboard.press('Escape');
    await until(() => edit.evaluate((element) => element === element.ownerDocument.activeElement), {
      what: 'the focus to be back',
    });
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('production');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'production' }).waitFor();
  });

  test('a key last used 47 hours ago isn’t shown as used yesterday', async () => {
    await suite.db.pool.query(
      `insert into key_spend_days (key_id, day, spend, last_used_at)
       values ($1, ((now() at time zone 'UTC') - interval '47 hours')::date, 0, now() - interval '47 hours')`,
      [user.keyId],
    );
    const page = await open(`/dashboard/keys/${user.keyId}`);
    await page.getByText('1 day ago').waitFor();
  });

  test('a key is disabled and enabled again, and deleted only after a confirmation', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}`);
    await page.getByText(', never used').waitFor();
    const box = () => page.getByRole('button', { name: 'Delete key' }).boundingBox();
    const before = await box();
    await page.getByRole('switch', { name: 'Key is active' }).press('Space');
    await page.getByText('Calls with this key fail with 401.').waitFor();
    await until(async () => (await statusOf()) === 401, { what: 'calls to be refused' });
    // Nothing has moved.
    expect(await box()).toEqual(before);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await statusOf()) === 200, { what: 'calls to pass again' });

    await page.getByRole('button', { name: 'Delete key' }).click();
    await dialog(page).getByText('Delete key of a test?').waitFor();
    expect(await dialog(page).locator('em').innerText()).toBe('of a test');
    await dialog(page).getByText('Calls with this key will fail with 401').waitFor();
    await dialog(page).getByRole('button', { name: 'Keep it' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
    expect(await statusOf()).toBe(200);
    await page.getByRole('button', { name: 'Delete key' }).click();
    await dialog(page).getByRole('button', { name: 'Delete key' }).click();
    await page.waitForURL('**/dashboard/keys');
    await page.getByText('No keys yet.').waitFor();
    await until(async () => (await statusOf()) === 401, { what: 'calls to be refused' });
  });

  test('a switch shows its new state before the key is loaded again, and is disabled until then', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}`);
    const active = page.getByRole('switch', { name: 'Key is active' });
    await active.waitFor();
    const reads = await holdAnswers(page, '"viewer"');
    await active.press('Space');
    await page.getByText('Calls with this key fail with 401.').waitFor();
    expect([await active.isChecked(), await active.isDisabled()]).toEqual([false, true]);
    reads.release();
    await until(() => active.isEnabled(), { what: 'the switch' });
    expect(await active.isChecked()).toBe(false);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('a deleted key is in no list afterwards', async () => {
    const page = await open('/dashboard/keys');
    const link = page.getByRole('link', { name: 'of a test' });
    await link.click();
    await page.getByRole('button', { name: 'Delete key' }).click();
    const reads = await holdAnswers(page, '"apiKeys"');
    await dialog(page).getByRole('button', { name: 'Delete key' }).click();
    await page.waitForURL('**/dashboard/keys');
    await reads.held;
    await page.getByRole('region', { name: 'API keys' }).waitFor();
    expect(await link.count()).toBe(0);
    reads.release();
    await page.getByText('No keys yet.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('leaving while a key is being deleted doesn’t lead back', async () => {
    const page = await open(`/dashboard/keys/${user.keyId}`);
    await page.getByRole('button', { name: 'Delete key' }).click();
    const deletion = await holdAnswers(page, 'deletedApiKeyId');
    await dialog(page).getByRole('button', { name: 'Delete key' }).click();
    await deletion.held;
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    const answered = answerWith(page, 'deletedApiKeyId');
    deletion.release();
    await answered;
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('navigation').getByRole('link', { name: 'Billing' }).hover();
    expect(new URL(page.url()).pathname).toBe('/dashboard/usage');
  });

  test('on a phone the keys are sorted by a select, and nothing invisible takes the focus', async () => {
    await suite.api(user.token, 'POST', '/api/keys', { name: 'another' });
    await suite.api(user.token, 'PATCH', `/api/keys/${user.keyId}`, { monthly_limit_usd: 1 });
    const cost = costing((DOLLAR * 996n) / 1_000n);
    await flushWhenFree(suite.db.pool, [recordOf(user, { createdAt: Date.now(), ...cost })]);
    const page = await open('/dashboard/keys');
    const list = page.getByRole('region', { name: 'API keys' });
    const names = () => list.locator('tbody th').allInnerTexts();
    await list.getByRole('button', { name: 'Name' }).waitFor();
    expect(await page.getByLabel('Sort by').isVisible()).toBe(false);
    await page.setViewportSize(NARROW);
    const choice = page.getByLabel('Sort by');
    expect(await choice.locator('option').allInnerTexts()).toEqual([
      'Name',
      'This month (UTC)',
      'Last used',
      'Created',
    ]);
    expect(await list.locator('thead button:visible').count()).toBe(0);
    expect(await list.getByRole('columnheader', { name: 'Name' }).count()).toBe(1);
    await until(async () => (await names()).join() === 'another,of a test', { what: 'the keys by name' });
    await choice.selectOption('This month (UTC)');
    await page.waitForURL('**/dashboard/keys?sort=spend');
    await until(async () => (await names())[0] === 'of a test', { what: 'the key with the highest spend' });
    // Less than the limit isn't shown as 100%.
    expect(await list.getByRole('meter').getAttribute('aria-valuetext')).toBe('99.6%');
    await expectGoodLooks(page, 'keys-sorted');
  });

  test('a guard is set, acts, is shown on the page, and is undone by one click', async () => {
    await suite.api(user.token, 'PATCH', `/api/keys/${user.keyId}`, { monthly_limit_usd: 0.000001 });
    const page = await open(`/dashboard/keys/${user.keyId}?tab=caps`);
    await page.getByRole('button', { name: 'Set guard' }).click();
    const percent = page.getByLabel('Percentage of the monthly limit');
    await percent.fill('101');
    await page.keyboard.press('Enter');
    await page.getByText('Enter a whole number from 1 to 100.').waitFor();
    await percent.fill('90');
    await page.reload();
    expect(await percent.inputValue()).toBe('90');
    await page.getByLabel('What happens').selectOption('Run calls on another model');
    await page.getByLabel('Model').selectOption('gateway/qwen-fast');
    await expectGoodLooks(page, 'keys-guard-form');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('At 90% of the monthly limit, calls run on gateway/qwen-fast.').waitFor();
    await page.getByRole('button', { name: 'Edit guard' }).click();
    await page.getByLabel('What happens').selectOption('Reject calls');
    const saved = await holdAnswers(page, '"setApiKeyGuard"');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved.held;
    // A change made now would be lost with the answer.
    for (const field of [percent, page.getByLabel('What happens')])
      expect(await field.isEditable()).toBe(false);
    saved.release();
    await page.getByText('calls are rejected.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await statusOf()).toBe(200);
    await page.getByText('The key reached 90% of its monthly limit, and its guard stopped it').waitFor();
    await page.getByText('The guard rejects calls with 402.').waitFor();
    await until(async () => (await statusOf()) === 402, { what: 'the guard to reject' });
    expect((await errorOf(await postChat(suite.url, user.key))).code).toBe('key_guard_reached');
    await expectGoodLooks(page, 'keys-guard-acting');
    await page.getByRole('link', { name: 'Alerts' }).last().click();
    await page.getByText('90% of the monthly limit: calls stopped').first().waitFor();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await page.getByText('its guard stopped it').waitFor({ state: 'hidden' });
    await page.getByText('Calls with this key are accepted.').waitFor();
    // Restoring it would make it act again, so its removal can't be undone.
    await page.getByRole('link', { name: 'Caps' }).last().click();
    await page.getByText('You undid it. It is off until the month ends').waitFor();
    await page.getByRole('button', { name: 'Remove guard' }).click();
    await page.getByText('If you set it again, it acts again this month.').waitFor();
    expect(await page.getByRole('button', { name: 'Undo for guard' }).count()).toBe(0);
    await until(async () => (await statusOf()) === 200, { what: 'calls to pass again' });
  });

  test('days of the chart are reached by keyboard and shown as a table, and a model links to its calls', async () => {
    expect(await statusOf()).toBe(200);
    await suite.settled();
    const page = await open(`/dashboard/keys/${user.keyId}?tab=analytics`);
    await page.getByRole('application', { name: /^Cost per day/ }).focus();
    const announced = page.getByRole('figure').getByRole('status');
    await announced.filter({ hasText: '$0.00, 0 requests, 0 tokens, 0 errors' }).waitFor();
    for (let day = 1; day < 7; day++) await page.keyboard.press('ArrowRight');
    await announced.filter({ hasText: /\$0\.0000\d+, 1 request, [\d,]+ tokens, 0 errors$/ }).waitFor();
    await page.getByRole('button', { name: '30 days' }).click();
    await page.waitForURL('**?tab=analytics&window=30');
    await page.getByRole('button', { name: 'Show as table' }).click();
    const days = page.getByRole('region', { name: 'Cost per day' }).locator('tbody tr');
    // The previous days are shown until the others have come.
    await days.nth(29).waitFor();
    expect(await days.count()).toBe(30);
    await page.getByRole('link', { name: 'gateway/fast' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    expect(await page.getByLabel('Key').inputValue()).toBe(user.keyId);
    expect(await page.getByLabel('Model').inputValue()).toBe('gateway/fast');
    await callsOf(page).getByText('success').waitFor();
  });

  test('while the balance is used up, the page of a key shows that calls fail, and links to adding credit', async () => {
    user = await signUpPoor();
    const admin = await signUpAdmin(suite);
    const adjust = (amount_usd: string) =>
      suite.api(admin.token, 'POST', `/api/admin/users/${user.accountId}/credit-adjustments`, {
        amount_usd,
        reason: 'Of a test',
      });
    await adjust('-1');
    const page = await keepAs(browser, suite, user, `/dashboard/keys/${user.keyId}`);
    const says = page.getByText('The balance is used up: calls fail with 402.');
    await says.waitFor();
    await until(async () => (await statusOf()) === 402, { what: 'calls to be rejected' });
    await page.getByRole('switch', { name: 'Key is active' }).press('Space');
    await page.getByText('Calls with this key fail with 401.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await says.waitFor();
    await adjust('1');
    await page.getByText('Calls with this key are accepted.').waitFor();
    await adjust('-1');
    await says.getByRole('link', { name: 'Add credit' }).click();
    await page.waitForURL('**/dashboard/billing');
  });

  test('any of a thousand keys is found by search and paging, in the chosen order; a page that became empty doesn’t claim that there are no keys', async () => {
    user = await signUpPoor();
    await suite.db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
       select gen_random_uuid(), $1::uuid, 'service ' || to_char(n, 'FM0000'), 'sk-pr-ab', to_char(n, 'FM0000'),
         decode(md5($1::text || n), 'hex'), now() - n * interval '1 hour' from generate_series(1, 1000) n`,
      [user.accountId],
    );
    const page = await keepAs(browser, suite, user, '/dashboard/keys');
    const rows = page.getByRole('region', { name: 'API keys' }).locator('tbody tr');
    await page.getByText('1,001 keys').waitFor();
    expect(await rows.count()).toBe(50);
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'service 0050', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL('**/dashboard/keys?sort=name');
    await page.getByRole('link', { name: 'service 0001', exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('0997');
    await page.getByText('1 of 1,001 keys').waitFor();
    await page.getByRole('link', { name: 'service 0997', exact: true }).waitFor();
    const search = page.getByRole('searchbox', { name: 'Search keys' });
    await search.fill('no such key');
    await page.getByText('No matching keys.').waitFor();
    // A link to the page itself ends the search.
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
    await rows.nth(49).waitFor();
    await until(async () => (await search.inputValue()) === '', { what: 'an empty search' });
    await search.fill('0997');
    await page.getByText('1 of 1,001 keys').waitFor();
    // Calls can be filtered by each key, though not all are listed.
    const { rows: found } = await suite.db.pool.query<{ id: string }>(
      `select id from api_keys where account_id = $1 and name = 'service 0997'`,
      [user.accountId],
    );
    await goInside(page, `/dashboard/usage?key=${found[0]!.id}`);
    const chosen = page.getByLabel('Key', { exact: true }).locator('option:checked');
    await until(async () => (await chosen.innerText()) === 'service 0997', { what: 'the name of the key' });

    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
    await until(async () => (await search.inputValue()) === '', { what: 'an empty search' });
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'service 0050', exact: true }).waitFor();
    // Without an event: the page is refreshed when somebody comes back.
    await suite.db.pool.query(`delete from api_keys where account_id = $1 and name >= 'service 0050'`, [
      user.accountId,
    ]);
    await until(
      async () => {
        await page.evaluate('window.dispatchEvent(new Event("focus"))');
        return page.getByText('No keys on this page of the list.').isVisible();
      },
      { what: 'the page without keys' },
    );
    await page.getByRole('link', { name: 'First page' }).click();
    await page.getByRole('link', { name: 'service 0049', exact: true }).waitFor();
  });
});
