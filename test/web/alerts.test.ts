import type { Page } from 'playwright-core';
import { ALERT_FIRED_CHANNEL } from '../../src/db/invalidation.js';
import { newId } from '../../src/lib/ids.js';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { type Receiver, startReceiver } from '../alerts/delivery/receiver.js';
import { subscribe } from '../alerts/support.js';
import { describeInBrowser, NARROW, useBrowser, WIDE } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import { expectGoodLooks, goInside, holdAnswers, keepAs } from './dashboard.js';

/** A public IP address, which needs no DNS; nothing is sent there. */
const PUBLIC = 'https://93.184.216.34/hook';

/** From a key without a limit to an alert that was fired, delivered and redelivered. */
describeInBrowser('the alerts of the dashboard', () => {
  const browser = useBrowser();
  let receiver: Receiver;
  let user: StackUser;
  /** Lets the receiver answer, so that a waiting delivery can be seen before. */
  let release: (() => void) | undefined;
  beforeAll(async () => {
    receiver = await startReceiver({
      onRequest(_received, response) {
        if (release) return true;
        release = () => void response.writeHead(204).end();
        return false;
      },
    });
  });
  afterAll(() => receiver?.close());
  const suite = useProduct();

  test('the owner of a key sets a limit, gets an alert when it is reached, and sees its delivery', async () => {
    user = await suite.signUp('team');
    const page = await keepAs(browser, suite, user, `/dashboard/keys/${user.keyId}?tab=alerts`);
    const dialog = page.getByRole('dialog');
    await page.getByText('this key has no limit').waitFor();
    await expectGoodLooks(page, 'alerts-no-limit');
    await page.getByRole('link', { name: 'Set a monthly limit' }).click();
    await page.getByRole('textbox', { name: 'Monthly limit' }).fill('0.00001');
    await page.keyboard.press('Enter');
    await page.getByText('of $0.00001').waitFor();

    // A mail with custom percentages.
    await page.getByRole('link', { name: 'Alerts' }).last().click();
    await page.getByRole('button', { name: 'Create alert' }).click();
    // Without a mail server, a webhook is offered first, and a mail shows a warning.
    await dialog.getByLabel('URL').waitFor();
    await dialog.getByText('http:// or https://, at a public address').waitFor();
    await dialog.getByRole('button', { name: 'Email' }).click();
    await dialog.getByText('This installation doesn’t send email.').waitFor();
    expect(await dialog.getByLabel('Email address').inputValue()).toContain('@example.com');
    await dialog.getByText('at $0.000008').waitFor();
    await dialog.getByRole('button', { name: 'Remove 80%' }).click();
    const percent = dialog.getByRole('textbox', { name: 'Percentage to add' });
    await percent.fill('101');
    await page.keyboard.press('Enter');
    await dialog.getByText('Must be a whole number from 1 to 100').waitFor();
    for (const one of ['90', '10', '25']) {
      await percent.fill(one);
      await page.keyboard.press('Enter');
    }
    expect(await percent.isDisabled()).toBe(true);
    await expectGoodLooks(page, 'alerts-create');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('main').getByText('90% at $0.000009').waitFor();

    // A percentage that is still in its field is saved with the others; with an invalid one, nothing is saved.
    const mailed = page.getByRole('listitem').filter({ hasText: '90% at' });
    await mailed.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('button', { name: 'Remove 10%' }).click();
    await percent.fill('950');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Must be a whole number from 1 to 100').waitFor();
    expect(await percent.inputValue()).toBe('950');
    await percent.fill('95');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('main').getByText('95% at $0.0000095').waitFor();

    // Dialog and typed text survive a reload.
    await page.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByLabel('URL').fill(PUBLIC);
    await dialog.getByRole('button', { name: 'Remove 50%' }).click();
    await page.reload();
    expect(await dialog.getByLabel('URL').inputValue()).toBe(PUBLIC);
    await dialog.getByRole('button', { name: 'Remove 80%' }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Remove 50%' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });

    // A webhook: a private address is refused with its reason, the secret is shown once.
    await page.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByRole('button', { name: 'Webhook' }).click();
    await dialog.getByLabel('URL').fill('https://127.0.0.1/hook');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByText("Resolves to an address that isn't on the public internet").waitFor();
    await dialog.getByLabel('URL').fill(PUBLIC);
    for (const one of ['50', '80']) await dialog.getByRole('button', { name: `Remove ${one}%` }).click();
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    const secret = await dialog.getByRole('region', { name: 'Signing secret' }).innerText();
    expect(secret).toMatch(/^whsec_/);
    expect(await dialog.getByRole('link', { name: 'How to verify' }).getAttribute('href')).toBe(
      '/docs/webhooks',
    );
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await suite.db.pool.query(
      `update alert_subscriptions set destination = $1 where kind = 'webhook' and account_id = $2`,
      [`${receiver.url}/ok`, user.accountId],
    );

    // The alert is shown on every page. Its event is sent once, to connected pages: a page that was just loaded
    // may miss it.
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Calls with your keys appear here').waitFor();
    expect((await postChat(suite.url, user.key)).status).toBe(200);
    await page.getByText(/Key of a test has spent \d+% of its monthly limit/).waitFor();
    await page.getByRole('link', { name: 'Show its alerts' }).click();
    const history = page.getByRole('region', { name: 'Alert history' }).locator('tbody tr');
    await history.filter({ hasText: 'pending' }).first().waitFor();
    (await until(() => release, { what: 'the delivery' }))();
    await history.filter({ hasText: /^100% of the monthly limit.*sent.*204/s }).waitFor();
    await history.filter({ hasText: 'degraded' }).nth(4).waitFor();
    await page.getByText('the alert was recorded but not emailed').first().waitFor();
    await expectGoodLooks(page, 'alerts-history');
    // Reason, time and receiver of a failed delivery are visible at any width.
    const unsent = history.filter({ hasText: 'degraded' }).first();
    const reason = unsent.getByText('no mail server is configured');
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      for (const part of [reason, unsent.locator('time').first(), unsent.locator('[title*="@"]')]) {
        await until(
          async () => {
            await part.scrollIntoViewIfNeeded();
            return part.evaluate((element) => {
              const { right, top, height } = element.getBoundingClientRect();
              return element.contains(element.ownerDocument.elementFromPoint(right - 2, top + height / 2));
            });
          },
          { what: `"${await part.innerText()}" to be in sight at a width of ${viewport.width}` },
        );
      }
    }
    await page.setViewportSize(WIDE);

    // Reached percentages are marked, and the bar shows that the limit is reached.
    const sent = page.getByRole('listitem').filter({ hasText: receiver.url });
    await sent.getByText(', limit reached').waitFor();
    await sent.getByText('at $0.00001, reached').waitFor();

    // Each button names its object.
    const acts = page.getByRole('main').getByRole('button', { name: /^(Edit|Send|New|Delete|Redel)/ });
    const names = await acts.allInnerTexts();
    expect(names.length).toBeGreaterThan(12);
    expect(new Set(names).size).toBe(names.length);

    // Going back doesn't lose a new secret.
    await sent.getByRole('button', { name: `New secret for ${receiver.url}/ok` }).click();
    await dialog.getByRole('button', { name: 'Create new secret' }).click();
    await dialog.getByRole('region', { name: 'Signing secret' }).waitFor();
    await page.evaluate('history.back()');
    await dialog.getByText('You haven’t copied the signing secret').waitFor();
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog.waitFor({ state: 'hidden' });

    // Once more, and a test.
    const received = receiver.requests.length;
    await history
      .getByRole('button', { name: `Redeliver 100% of the monthly limit to ${receiver.url}/ok` })
      .click();
    await page
      .getByRole('listitem')
      .filter({ hasText: receiver.url })
      .getByRole('button', { name: 'Send test' })
      .click();
    await history.filter({ hasText: /^Test.*sent/s }).waitFor();
    expect(receiver.requests.length).toBeGreaterThan(received);
  });

  test('lists the alerts of all keys on one page, and reports a low balance by mail', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/alerts');
    await page.getByText('100% of the monthly limit, of a test').first().waitFor();
    await page.getByRole('button', { name: 'Create alert' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Key').inputValue()).toBe(user.keyId);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByLabel('URL').fill(`${PUBLIC}/second`);
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog.waitFor({ state: 'hidden' });

    // It is listed first, with its key, and can be changed there.
    const made = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Send test' });
    const second = made.filter({ hasText: `${PUBLIC}/second` });
    await second.getByRole('link', { name: 'of a test' }).waitFor();
    await second.getByText('80% at $0.000008').waitFor();
    expect(await made.first().innerText()).toContain(`${PUBLIC}/second`);
    expect(await made.count()).toBe(3);
    await expectGoodLooks(page, 'alerts-of-keys');
    await second.getByRole('switch', { name: `${PUBLIC}/second, of a test` }).press('Space');
    await second.getByText('Off', { exact: true }).waitFor();
    const { rows } = await suite.db.pool.query(
      'select active from alert_subscriptions where account_id = $1 and destination = $2',
      [user.accountId, `${PUBLIC}/second`],
    );
    expect(rows).toEqual([{ active: false }]);
    await goInside(page, '/dashboard/profile');
    // Without a mail server, no mail is promised.
    await page
      .getByText('This installation doesn’t send email. The alert only appears in the dashboard.')
      .waitFor();
    expect(await page.getByText('Sends one email').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit email below' }).click();
    await page.getByRole('textbox', { name: 'Email below' }).fill('5.5');
    await page.keyboard.press('Enter');
    await page.getByText('$5.50').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Turned off.').waitFor();
  });

  /** An account for several tests, without fired alerts. */
  let account: StackUser;
  beforeAll(async () => {
    account = await suite.signUp('team');
  });
  const deleteKeys = async (): Promise<void> => {
    const former = await suite.api<{ id: string }[]>(account.token, 'GET', '/api/keys');
    for (const { id } of former) await suite.api(account.token, 'DELETE', `/api/keys/${id}`);
  };
  /** The account with one new key with a limit. */
  const withLimit = async (dollars: number | null): Promise<StackUser> => {
    await deleteKeys();
    const { key, api_key: made } = await suite.api<{ key: string; api_key: { id: string } }>(
      account.token,
      'POST',
      '/api/keys',
      { name: 'of a test' },
    );
    await suite.api(account.token, 'PATCH', `/api/keys/${made.id}`, { monthly_limit_usd: dollars });
    return { ...account, keyId: made.id, key };
  };

  test('an alert with the longest key name and destination fits the page', async () => {
    const owner = await withLimit(null);
    await suite.api(owner.token, 'PATCH', `/api/keys/${owner.keyId}`, { name: 'W'.repeat(100) });
    const destination = `${PUBLIC}/`.padEnd(2_048, 'p');
    const alert = { kind: 'webhook', destination, thresholds_pct: [80] };
    await suite.api(owner.token, 'POST', `/api/keys/${owner.keyId}/alerts`, alert);
    const page = await keepAs(browser, suite, owner, '/dashboard/alerts');
    await page.getByRole('listitem').getByText(destination).first().waitFor();
    await expectGoodLooks(page, 'alerts-long-names');
  });

  test('the secret of a webhook is shown even if the dialog was closed while it was created', async () => {
    const owner = await withLimit(1);
    const page = await keepAs(browser, suite, owner, '/dashboard/alerts');
    const dialog = page.getByRole('dialog');
    const { held, release } = await holdAnswers(page, 'whsec_');
    await page.getByRole('button', { name: 'Create alert' }).click();
    // The key of the previous test may still be cached.
    await until(async () => (await dialog.getByLabel('Key').inputValue()) === owner.keyId, {
      what: 'the key to be offered',
    });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByLabel('URL').fill(PUBLIC);
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await held;
    // What was typed now would be lost with the answer.
    expect(await dialog.getByLabel('URL').isEditable()).toBe(false);
    expect(await dialog.getByLabel('Percentage to add').isEditable()).toBe(false);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    release();
    const secret = dialog.getByRole('region', { name: 'Signing secret' });
    expect(await secret.innerText()).toMatch(/^whsec_/);
    await page.unrouteAll({ behavior: 'wait' });
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    // The next dialog is empty.
    await page.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByRole('button', { name: 'Continue' }).waitFor();
  });

  test('the spend of a limit follows the calls', async () => {
    const owner = await withLimit(5);
    await subscribe(suite.db.pool, owner, [80], { destination: PUBLIC });
    const page = await keepAs(browser, suite, owner, '/dashboard/alerts');
    const spent = page.getByText(/ of \$5\.00 spent this month/);
    expect(await spent.innerText()).toMatch(/^\$0\.00 of/);
    expect((await postChat(suite.url, owner.key)).status).toBe(200);
    await spent.filter({ hasText: /^\$0\.00\d*[1-9] of/ }).waitFor();
    // The first call may already be in the page's second answers.
    const first = spent.filter({ hasText: await spent.innerText() });
    expect((await postChat(suite.url, owner.key)).status).toBe(200);
    await first.waitFor({ state: 'detached', timeout: 20_000 });
  });

  test('a key whose limit was removed still lists its alerts, which can be changed', async () => {
    const owner = await withLimit(1);
    const webhook = await subscribe(suite.db.pool, owner, [50, 80], { destination: PUBLIC });
    const page = await keepAs(browser, suite, owner, `/dashboard/keys/${owner.keyId}?tab=alerts`);
    const shown = page.getByRole('listitem').filter({ hasText: PUBLIC });
    await shown.getByText('80% at $0.80').waitFor();
    await suite.api(owner.token, 'PATCH', `/api/keys/${owner.keyId}`, { monthly_limit_usd: null });
    await page.getByText('this key has no limit').waitFor();
    expect(await shown.getByRole('list', { name: 'Percentages' }).innerText()).toMatch(/^50%\s+80%$/);
    expect(await page.getByRole('button', { name: 'Create alert' }).count()).toBe(0);
    await expectGoodLooks(page, 'alerts-without-limit');
    const dialog = page.getByRole('dialog');
    await shown.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('button', { name: 'Remove 80%' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { rows } = await suite.db.pool.query(
      'select thresholds_pct from alert_subscriptions where id = $1',
      [webhook],
    );
    expect(rows).toEqual([{ thresholds_pct: [50] }]);
    await shown.getByRole('button', { name: 'Delete' }).click();
    const reads = await holdAnswers(page, '"viewer"');
    await dialog.getByRole('button', { name: 'Delete alert' }).click();
    await dialog.waitFor({ state: 'hidden' });
    reads.release();
    await shown.waitFor({ state: 'hidden' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('an account without a key is led to creating one', async () => {
    await deleteKeys();
    const page = await keepAs(browser, suite, account, '/dashboard/alerts');
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Create key' }).click();
    await page.waitForURL('**/dashboard/keys?create=true');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
  });

  /** Fires an alert, and sends its event. */
  const fire = async (
    { accountId, keyId }: StackUser,
    alert: { purpose?: 'low_balance'; percent?: number; month?: string },
  ): Promise<void> => {
    const { purpose = 'threshold', percent, month } = alert;
    const ofKey = purpose === 'low_balance' ? [null, null] : [keyId, newId()];
    await suite.db.pool.query(
      `insert into alert_events (id, account_id, key_id, key_name, subscription_id, purpose, kind, destination,
         threshold_pct, billing_month, spend, monthly_limit, balance, fired_at, pending_since, delivery_status, finished_at)
       values ($1, $2, $3, 'of a test', $4, $5, 'webhook', $6, $7, $8, 1, 1, 1, now(), now(), 'failed', now())`,
      [newId(), accountId, ...ofKey, purpose, PUBLIC, percent, month],
    );
    await suite.db.pool.query('select pg_notify($1, $2)', [ALERT_FIRED_CHANNEL, accountId]);
  };
  const spent = (page: Page, percent: number) => page.getByText(`has spent ${percent}% of its monthly limit`);
  /** Opens the empty history of an account, and fires alerts until the page receives one. */
  const follow = async (owner: StackUser): Promise<Page> => {
    const page = await keepAs(browser, suite, owner, '/dashboard/alerts');
    await page.getByText('No alert has fired yet.').waitFor();
    await until(async () => {
      await fire(owner, { percent: 1, month: '2026-10' });
      return spent(page, 1).isVisible();
    });
    return page;
  };

  test('the banner on each page shows the latest month of a key, and a low balance until credit is added', async () => {
    const owner = await suite.signUp('team');
    const page = await follow(owner);
    await fire(owner, { percent: 100, month: '2026-10' });
    await spent(page, 100).waitFor();
    await fire(owner, { percent: 50, month: '2026-11' });
    await spent(page, 50).waitFor();
    await fire(owner, { purpose: 'low_balance' });
    await page.getByText('The balance is low.').waitFor();
    await fire(owner, { percent: 80, month: '2026-11' });
    const history = page.getByRole('region', { name: 'Alert history' });
    await history.getByText('80% of the monthly limit').first().waitFor();
    const low = page.getByText('The balance is low.');
    expect(await low.isVisible()).toBe(true);
    await suite.api(owner.token, 'POST', '/api/billing/topup', { amount_usd: 10 });
    await low.waitFor({ state: 'hidden' });
    await fire(owner, { purpose: 'low_balance' });
    await page.getByRole('link', { name: 'Add credit' }).click();
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    expect(await low.count()).toBe(0);
  });

  test('an open history is refreshed once a second, however many alerts fire, and redelivers an alert once, however often the button is clicked', async () => {
    const owner = await suite.signUp('team');
    const page = await follow(owner);
    const [question] = [...loadWebBuild()!.documents].find(([, text]) =>
      text.includes('query AccountAlerts('),
    )!;
    let asked = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes(question)) asked++;
    });
    const began = performance.now();
    for (let percent = 2; percent <= 16; percent++) {
      await fire(owner, { percent, month: '2026-10' });
      await spent(page, percent).waitFor();
    }
    const history = page.getByRole('region', { name: 'Alert history' });
    await history.getByText('16% of the monthly limit').first().waitFor();
    expect(asked).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);

    const again = history.getByRole('button', { name: 'Redeliver' });
    const { held, release: goOn } = await holdAnswers(page, '"redeliverAlertEvent"');
    await again.first().click();
    await held;
    expect(await again.first().isDisabled()).toBe(true);
    goOn();
    await page.unrouteAll({ behavior: 'wait' });
  });
});
