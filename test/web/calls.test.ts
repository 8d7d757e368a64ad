import type { Page } from 'playwright-core';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { documentIdOf } from '../graphql/support.js';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { describeInBrowser, NARROW, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { callsOf, expectGoodLooks, goInside, keepAs, openAs, pageOf } from './dashboard.js';

const DAY_MS = 86_400_000;

/** The list of calls, as somebody searches it for a call. */
describeInBrowser('the calls of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  let page: Page;
  let failed: UsageRecord;
  let fallenBack: UsageRecord;
  beforeAll(async () => {
    user = await suite.signUp('team');
    const now = Date.now();
    const calls = Array.from({ length: 110 }, (_, n) => recordOf(user, { createdAt: now - 1_000 * (n + 1) }));
    failed = recordOf(user, {
      createdAt: now,
      status: 'error',
      errorCode: 'upstream_error',
      httpStatus: 502,
      outputTokens: 0,
      cost: 0n,
    });
    fallenBack = recordOf(user, {
      createdAt: now - 1,
      requestedModel: 'gateway/a-model-with-a-very-long-name-that-nobody-can-read-in-a-table',
      servedModel: 'gateway/qwen-pro',
      stream: true,
      ttftMs: 123,
      estimated: true,
    });
    await flushWhenFree(suite.db.pool, [...calls.reverse(), fallenBack, failed]);
  }, 60_000);
  beforeEach(async () => {
    page = await keepAs(browser, suite, user, '/dashboard/usage');
  });

  const rows = () => callsOf(page).locator('tbody tr');
  const drawer = () => page.getByRole('dialog', { name: 'Call' });

  test('a row opens the details of its call, at their own address', async () => {
    const row = rows().filter({ hasText: 'gateway/qwen-pro' });
    // Screen readers read an amount as one.
    await row.getByRole('cell', { name: '$0.00025', exact: true }).waitFor();
    await row.click();
    await page.waitForURL(`**/dashboard/usage?call=${fallenBack.id}`);
    const facts = drawer().locator('dl');
    await facts.waitFor();
    const shown = (await facts.locator('div').allInnerTexts()).map((fact) => fact.split(/\s*\n\s*/));
    expect(Object.fromEntries(shown as [string, string][])).toMatchObject({
      'Request ID': fallenBack.id,
      Status: 'success',
      Key: 'of a test',
      'Requested model': fallenBack.requestedModel,
      'Served by': 'gateway/qwen-pro simulated',
      Endpoint: '/v1/chat/completions or /v1/responses',
      Streamed: 'yes',
      'Tokens in': '1,000',
      Cost: '$0.00025',
      Verified: '1000 × $0.10 + 500 × $0.30 per million tokens = $0.00025, equal to the charge',
      'Time to first token': '123 ms',
      Flags: 'tokens were estimated',
    });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    await drawer().getByRole('button', { name: 'Copy as JSON' }).click();
    await drawer().getByText('Copied').waitFor();
    const copied: object = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'));
    expect(copied).toEqual(await suite.api(user.token, 'GET', `/api/usage/${fallenBack.id}`));
    await expectGoodLooks(page, 'call');
    // By the address alone.
    await page.reload();
    await drawer().getByText(fallenBack.id).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL('**/dashboard/usage');
  });

  test('going back after closing a call leads to the page before the list', async () => {
    await goInside(page, '/dashboard/keys');
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
    await rows().filter({ hasText: 'gateway/qwen-pro' }).click();
    await page.waitForURL(`**/dashboard/usage?call=${fallenBack.id}`);
    await drawer().locator('dl').waitFor();
    await page.keyboard.press('Escape');
    await drawer().waitFor({ state: 'hidden' });
    await page.waitForURL('**/dashboard/usage');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  });

  test('a call is found by its request id, on the page and from anywhere', async () => {
    await page.getByLabel('Request ID').fill('abc');
    await page.getByRole('button', { name: 'Find call' }).click();
    await page.getByText('A request id looks like').waitFor();
    await page.getByLabel('Request ID').fill(` ${failed.id.toUpperCase()} `);
    await page.keyboard.press('Enter');
    await drawer().getByText('upstream_error', { exact: true }).waitFor();
    await goInside(page, '/dashboard/billing');
    await page.getByRole('heading', { name: 'Billing' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(fallenBack.id);
    await page.getByRole('option', { name: 'Show the call with this request ID' }).waitFor();
    await page.keyboard.press('Enter');
    await drawer().getByText(fallenBack.requestedModel).waitFor();
    await goInside(page, `/dashboard/usage?call=${user.keyId}`);
    await drawer().getByText('Your account has no call with the request ID').waitFor();
  });

  test('the list shows the number and cost of calls, and pages in both directions', async () => {
    await page.getByText('112 calls in all, $0.02775').waitFor();
    // Announced once it has settled, not on each change.
    await page.getByRole('status').filter({ hasText: '112 calls, $0.02775 together' }).waitFor();
    expect(await page.locator('[aria-live]').filter({ hasText: 'calls in all' }).count()).toBe(0);
    const newest = await rows().first().innerText();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL('**after=**');
    await rows().filter({ hasText: 'upstream_error' }).waitFor({ state: 'detached' });
    const second = await rows().first().innerText();
    await page.getByRole('link', { name: 'Older' }).click();
    await rows().nth(49).waitFor({ state: 'detached' });
    expect(await rows().count()).toBe(12);
    await page.getByRole('link', { name: 'Newer' }).click();
    await rows().nth(49).waitFor();
    expect(await rows().first().innerText()).toBe(second);
    await page.getByRole('link', { name: 'Newer' }).click();
    await rows().filter({ hasText: 'upstream_error' }).waitFor();
    // The newest page is live again.
    await page.waitForURL('**/dashboard/usage');
    expect(await rows().first().innerText()).toBe(newest);
    await page.getByLabel('Status').selectOption('error');
    await page.getByText('1 call in all, $0.00').waitFor();
  });

  test('a window without calls shows so, and links to a longer one', async () => {
    const idle = await suite.signUp('free');
    await flushWhenFree(suite.db.pool, [recordOf(idle, { createdAt: Date.now() - 10 * DAY_MS })]);
    page = await openAs(browser, suite, idle, '/dashboard/usage');
    await page.getByText('No calls in the last 7 days.').waitFor();
    const clear = page.getByRole('button', { name: 'Clear the filters' });
    expect(await clear.count()).toBe(0);
    await page.getByRole('button', { name: 'Show 90 days' }).click();
    await page.waitForURL('**/dashboard/usage?window=90');
    await rows().filter({ hasText: 'gateway/fast' }).waitFor();
    await page.getByLabel('Status').selectOption('error');
    await page.getByText('No calls in this window match the filters.').waitFor();
    await clear.waitFor();
  });

  test('old rows are marked while new ones are loading', async () => {
    await rows().nth(49).waitFor();
    const released = Promise.withResolvers<void>();
    // No other test loads the rows of this model, which may be cached in the shared page.
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('"gateway/qwen-pro"')) return route.fallback();
      await released.promise;
      return route.fallback();
    });
    await page.getByLabel('Model', { exact: true }).selectOption('gateway/qwen-pro');
    const list = callsOf(page);
    await list.locator('table[aria-busy=true]').waitFor();
    expect(await rows().count()).toBe(50);
    released.resolve();
    await list.locator('table[aria-busy=false]').waitFor();
    expect(await rows().count()).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test.each(['2026-13-01', '2026-02-30', '1999-12-31'])('an invalid day, %s, is ignored', async (day) => {
    await page.goto(`/dashboard/usage?day=${day}`);
    await rows().nth(49).waitFor();
    expect(await page.getByRole('button', { name: /^Remove filter/ }).count()).toBe(0);
  });

  test('a key can be chosen once it is created, and no longer once it is deleted', async () => {
    const option = page.getByLabel('Key', { exact: true }).locator('option', { hasText: 'made later' });
    await rows().nth(49).waitFor();
    expect(await option.count()).toBe(0);
    const { api_key: key } = await suite.api<{ api_key: { id: string } }>(user.token, 'POST', '/api/keys', {
      name: 'made later',
    });
    await option.waitFor({ state: 'attached' });
    await suite.api(user.token, 'DELETE', `/api/keys/${key.id}`);
    await option.waitFor({ state: 'detached' });
  });

  test('keys and models that can’t be loaded show an error, and load by a click; a call that can’t be refreshed keeps its details beside the error', async () => {
    page = await pageOf(browser, suite, user);
    // Without the live connection, which would refresh the page by itself once it opens.
    await page.routeWebSocket(/graphql/, () => undefined);
    let broken = true;
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      if (!broken || !(await response.text()).includes('"models":')) return route.fulfill({ response });
      const error = { message: 'Something went wrong.', extensions: { code: 'internal_error' } };
      return route.fulfill({ json: { data: { viewer: null, models: null }, errors: [error] } });
    });
    await page.goto('/dashboard/usage');
    await page.getByRole('alert').getByText('Something went wrong.').waitFor();
    const model = page.getByLabel('Model', { exact: true }).locator('option', { hasText: 'gateway/fast' });
    expect(await model.count()).toBe(0);
    // During the next try, the button is loading and can't be pressed.
    const again = page.getByRole('button', { name: 'Try again' });
    const released = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      await released.promise;
      return route.fallback();
    });
    await again.click();
    expect(await again.isDisabled()).toBe(true);
    broken = false;
    released.resolve();
    await model.waitFor({ state: 'attached' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });

    await goInside(page, `/dashboard/usage?call=${fallenBack.id}`);
    await drawer().locator('dl').waitFor();
    const receipt = documentIdOf('query UsageReceipt');
    await page.route('**/graphql', (route) => {
      if (!route.request().postData()?.includes(receipt)) return route.fallback();
      const error = { message: 'Something went wrong.', extensions: { code: 'internal_error' } };
      return route.fulfill({ json: { data: { viewer: null }, errors: [error] } });
    });
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await drawer().getByRole('alert').getByText('Something went wrong.').waitFor();
    expect(await drawer().locator('dl').getByText(fallenBack.requestedModel).isVisible()).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
    await drawer().getByRole('button', { name: 'Try again' }).click();
    await drawer().getByRole('alert').waitFor({ state: 'detached' });
  });

  test('on a phone a row has two lines of labelled figures, the cost first; the pointer shows a long name in full', async () => {
    await page.setViewportSize(NARROW);
    const row = rows().filter({ hasText: 'gateway/qwen-pro' });
    await row.waitFor();
    const name = row.locator('[title="gateway/qwen-pro"]');
    const [cost, status, model] = await Promise.all(
      [row.getByText('$0.00025', { exact: true }), row.getByText('success', { exact: true }), name].map(
        async (place) => (await place.boundingBox())!,
      ),
    );
    expect(cost!.x).toBeLessThan(status!.x);
    expect(Math.abs(cost!.y - status!.y)).toBeLessThan(12);
    expect(model!.y).toBeGreaterThan(cost!.y + 12);
    // The label before a figure isn't text of the cell.
    const labels = await page.evaluate<string[]>(
      `[...document.querySelectorAll('tr:has([title="gateway/qwen-pro"]) [data-figure][data-phone]')]
        .map((cell) => getComputedStyle(cell, '::before').content)`,
    );
    expect(labels).toEqual(['"Latency"', '"Cost"']);
  });

  test('a table that scrolls sideways shows so, and keeps names and actions of rows in sight', async () => {
    // On a phone this table has rows of several lines.
    const viewport = { width: 600, height: NARROW.height };
    await page.setViewportSize(viewport);
    await suite.db.pool.query(
      `insert into alert_events (id, account_id, key_id, key_name, subscription_id, kind, purpose, destination, fired_at,
         delivery_status, attempts, pending_since, finished_at)
       values (gen_random_uuid(), $1, $2, 'of a test', gen_random_uuid(), 'webhook', 'test',
         'https://hooks.example.com/a/very/long/path/that/is/cut/short', now(), 'failed', 3, now(), now())`,
      [user.accountId, user.keyId],
    );
    await goInside(page, '/dashboard/alerts');
    const table = page.getByRole('region', { name: 'Alert history' });
    const again = table.getByRole('button', { name: 'Redeliver' });
    await again.waitFor();
    await table.and(page.locator('[data-more-right=true]')).waitFor();
    const box = (await again.boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(viewport.width);
    await table.evaluate((element) => {
      element.scrollLeft = 10_000;
    });
    await page.locator('[data-more-left]').waitFor();
    expect(await table.getAttribute('data-more-right')).toBeNull();
    const name = (await table.getByRole('rowheader').boundingBox())!;
    expect(name.x).toBeGreaterThanOrEqual(0);
  });
});
