import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type SessionAnswer, signUp } from '../support/api.js';
import { describeInBrowser, screenshot, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { clickToCopy } from './dashboard.js';

/** An integrator with only a browser and an SDK. */
describeInBrowser('the GraphQL playground', () => {
  const browser = useBrowser();
  const product = useProduct();
  // The email address in the tabs: it must be free on the shared product.
  afterAll(async () => {
    const credentials = { email: 'you@example.com', password: 'choose a long one' };
    const { access_token: token } = await product.api<SessionAnswer>(
      '',
      'POST',
      '/api/auth/login',
      credentials,
    );
    await product.api(token, 'DELETE', '/api/auth/me', { password: credentials.password });
  });

  /** GraphiQL is expensive to load: both tests share a page, in which nobody is signed in at the beginning. */
  const openPlayground = (): Promise<Page> =>
    browser.keep(
      async () => {
        const page = await browser.open(product.url);
        await page.goto('/graphql/playground');
        // GraphiQL runs nothing before its editors are ready.
        await page.getByText('"choose a long one"').waitFor();
        return page;
      },
      () => Promise.resolve(),
    );
  const tab = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('tab', { name, exact: true }).click();
  };
  const run = (page: Page): Promise<void> => page.getByRole('button', { name: /^Execute query/ }).click();
  /** The content of the response editor without spaces, since the editor uses special ones. */
  const answer = async (page: Page): Promise<string> =>
    (await page.locator('section.result-window').innerText()).replace(/\s/g, '');

  test('lets a user sign up, create a key, watch an SDK call arrive, reload and log in again', async () => {
    const page = await openPlayground();
    await page.getByText('Not signed in').waitFor();
    // The tab is filled in and can be run unchanged.
    await run(page);
    await page.getByText('Signed in as you@example.com').waitFor();

    await tab(page, 'CreateKey');
    await run(page);
    const apiKey = await until(async () => /sk-pr-\w+/.exec(await answer(page))?.[0], {
      what: 'the key to be shown',
    });

    await tab(page, 'WatchUsage');
    await run(page);
    await page.getByRole('button', { name: /^Stop/ }).waitFor();
    const client = new OpenAI({ baseURL: `${product.url}/v1`, apiKey });
    // Calls before the subscription has begun aren't reported, so the test calls again.
    await until(
      async () => {
        await client.chat.completions.create({
          model: 'gateway/fast',
          messages: [{ role: 'user', content: 'Hello' }],
        });
        return (await answer(page)).includes('gateway/fast');
      },
      { what: 'a call to show up', intervalMs: 300 },
    );
    await screenshot(page, 'graphql-playground');

    // The token can be copied without HTTPS, too, where there is no clipboard API.
    await page.context().grantPermissions(['clipboard-read'], { origin: product.url });
    await page.evaluate(`Object.defineProperty(navigator.clipboard, 'writeText', { value: undefined })`);
    await clickToCopy(page.getByRole('button', { name: 'Copy token' }));
    await until(async () => /^eyJ/.test(await page.evaluate<string>('navigator.clipboard.readText()')), {
      what: 'the token to be copied',
    });

    // Token and tabs are kept over a reload, in this browser tab only.
    await page.reload();
    await page.getByText('Signed in as you@example.com').waitFor();
    await until(async () => (await page.getByRole('tab').count()) === 6, { what: 'the tabs of before' });
    const other = await page.context().newPage();
    await other.goto('/graphql/playground');
    await other.getByText('Not signed in').waitFor();
    expect(await other.evaluate<number>('localStorage.length')).toBe(0);
    await other.close();
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByText('Not signed in').waitFor();
    // The new user logs in again.
    await tab(page, 'LogIn');
    await page.getByText('"choose a long one"').waitFor();
    await run(page);
    await page.getByText('Signed in as you@example.com').waitFor();
    // A token is invalid after its log-out.
    await page.locator('.graphiql-query-editor .monaco-editor:visible').first().click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('mutation { logout { success } }');
    // Suggestions may lie over the button.
    await page.keyboard.press('Control+Enter');
    await page.getByText('Not signed in').waitFor();
  });

  test('uses the token of the Headers only, with or without a session of the dashboard', async () => {
    const { token, user } = await signUp(product.url);
    const page = await openPlayground();
    await page.getByText('Not signed in').waitFor();
    // A session of the dashboard in the same browser is ignored, also by subscriptions.
    await page.context().addCookies([{ name: 'pr_session', value: token, url: product.url }]);
    await tab(page, 'WatchUsage');
    await run(page);
    await until(async () => (await answer(page)).includes('(4403)'), { what: 'the refusal to subscribe' });
    await tab(page, 'ListUsage');
    await run(page);
    await until(async () => (await answer(page)).includes('Loginfirst'), { what: 'the refusal' });

    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('section.graphiql-editor-tool .monaco-editor:visible').last().click();
    await page.keyboard.type(`{"Authorization": "Bearer ${token}`);
    await run(page);
    await until(async () => (await answer(page)).includes('"1.000000"'), {
      what: `the balance of ${user.email}`,
    });
    await page.getByText('Not signed in').waitFor();
  });
});
