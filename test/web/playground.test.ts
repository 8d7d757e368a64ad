import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { describeInBrowser, screenshot, useBrowser } from '../support/browser.js';
import { createProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

/** An integrator who has nothing but a browser and an SDK, on the product as `npm start` runs it. */
describeInBrowser('the GraphQL playground', () => {
  const browser = useBrowser();
  let product: Product;
  beforeAll(async () => {
    product = await createProduct();
    await product.start();
  }, 90_000);
  afterAll(() => product.remove(), 60_000);

  const tab = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('tab', { name, exact: true }).click();
  };
  const run = (page: Page): Promise<void> => page.getByRole('button', { name: /^Execute query/ }).click();
  /** What the answer's editor shows, as the text of its model: only what is in sight stands in the document. */
  const answer = (page: Page): Promise<string> => page.locator('section.result-window').innerText();

  test('lets somebody sign up, make a key and watch a call of an SDK arrive', async () => {
    const page = await browser.open(product.url);
    await page.goto('/graphql/playground');
    await page.getByText('Not signed in').waitFor();
    // GraphiQL runs nothing before its editors stand.
    await page.getByText('"choose a long one"').waitFor();
    // The tab is filled in: it can be run as it stands.
    await run(page);
    await page.getByText('Signed in as you@example.com').waitFor();

    await tab(page, 'CreateKey');
    await run(page);
    const apiKey = await until(async () => /sk-pr-\w+/.exec((await answer(page)).replace(/\s/g, ''))?.[0], {
      what: 'the key to be shown',
    });

    await tab(page, 'WatchUsage');
    await run(page);
    await page.getByRole('button', { name: /^Stop/ }).waitFor();
    const client = new OpenAI({ baseURL: `${product.url}/v1`, apiKey });
    await client.chat.completions.create({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await until(async () => (await answer(page)).includes('gateway/fast'), { what: 'the call to show up' });
    await screenshot(page, 'graphql-playground');
  }, 90_000);
});
