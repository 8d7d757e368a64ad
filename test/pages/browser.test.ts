import type { Page } from 'playwright-core';
import { NOW } from '../leaderboard/support.js';
import { describeInBrowser, NARROW, screenshot, useBrowser } from '../support/browser.js';
import { usePlatform } from '../support/platform-suite.js';
import { expectGoodLooks } from '../web/dashboard.js';
import { someCalls } from './support.js';

/** 31 days of 20 models, as OpenAI exports them. */
const EXPORT = [
  'start_time,end_time,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens',
  ...Array.from({ length: 31 * 20 }, (_, i) => {
    const start = 1_761_955_200 + Math.floor(i / 20) * 86_400;
    return `${start},${start + 86_400},1440,gpt-4o-secret${i % 20},31000000,3100000,0`;
  }),
].join('\n');

describeInBrowser('the public pages in a real browser', () => {
  const browser = useBrowser();
  const suite = usePlatform({ own: true, clock: { now: () => NOW } });
  beforeAll(() => someCalls(suite.db));

  const PAGES = [
    ['/', 'Open models behind the OpenAI API, billed to the token'],
    ['/pricing', 'Pricing'],
    ['/leaderboard', 'Model leaderboard'],
    ['/status', 'Status'],
    ['/leaderboard/fast', 'gateway/fast'],
    ['/migrate', 'Compare your bill'],
  ] as const;

  test('read well in light and dark, at both widths', async () => {
    const page = await browser.open(suite.url, { colorScheme: 'light' });
    for (const [path, heading] of PAGES) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await expectGoodLooks(page, `public${path.replaceAll('/', '-')}`);
    }
  });

  test('on a phone the state of a model has its own line', async () => {
    const page = await browser.open(suite.url, { viewport: NARROW, javaScriptEnabled: false });
    await page.goto('/status');
    const states = page.locator('.state');
    expect(await states.count()).toBe(6);
    for (const state of await states.all()) expect((await state.boundingBox())!.height).toBeLessThan(24);
  });

  test('work without scripts: sorting, windows, hours as a table, the estimate', async () => {
    const page = await browser.open(suite.url, { javaScriptEnabled: false });
    await page.goto('/');
    await page.getByRole('link', { name: 'Full leaderboard' }).click();
    await page.getByRole('link', { name: 'Latency, p95' }).click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Latency, p95' }).waitFor();
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/leaderboard?window_days=30&sort_by=p95_latency');
    const formula = page.locator('#formula');
    expect(await formula.isVisible()).toBe(false);
    const tip = page.getByRole('button', { name: 'How the score is computed' });
    expect(await tip.boundingBox()).toMatchObject({ width: 24, height: 24 });
    await tip.press('Enter');
    await formula.waitFor();
    expect(await formula.textContent()).toContain('0.40 × success rate');
    await page.keyboard.press('Escape');
    await formula.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'gateway/fast' }).click();
    await page.getByText('Show as table').click();
    await page.getByRole('cell', { name: '1,234' }).waitFor();
    await page.goto('/migrate');
    await page.getByLabel('Model').fill('claude-3.5-sonnet');
    await page.getByLabel('Provider').selectOption('anthropic');
    await inputTokens(page).fill('1M');
    await page.getByLabel('Output tokens in 30 days').fill('1M');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL('**/migrate?legacy_provider=anthropic&**');
    await page.getByText('$18.00').waitFor();
    await page.getByText('88.89% less').waitFor();
    // Only scripts could read one.
    expect(await page.getByLabel('Usage export').isVisible()).toBe(false);
  });

  /** Without those that are cached. */
  const inputTokens = (page: Page) => page.getByLabel('Input tokens in 30 days', { exact: true });

  /** Everything that the page asks for from now on. */
  const requestsOf = (page: Page): string[] => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    return asked;
  };

  test('the estimator computes while typing, updates the URL, and sends nothing', async () => {
    const page = await browser.open(suite.url);
    await page.goto('/migrate');
    const asked = requestsOf(page);
    const estimate = page.getByRole('region', { name: 'Estimate' });
    await page.getByLabel('Model').fill('gpt-4o');
    await inputTokens(page).fill('1M');
    await page.getByLabel('Output tokens in 30 days').fill('1M');
    await estimate.getByText('$12.50').waitFor();
    await estimate.getByText('84% less').waitFor();
    await page.getByLabel('Output tokens in 30 days').fill('-');
    await page.getByText('Enter a whole number').waitFor();
    await estimate.getByText('Correct the marked fields to see the estimate.').waitFor();
    expect(await estimate.getByText('$12.50').count()).toBe(0);
    await page.getByLabel('Output tokens in 30 days').fill('2M');
    await estimate.getByText('$22.50').waitFor();
    expect(await estimate.getByRole('button', { name: 'Copy' }).count()).toBe(3);
    expect(await page.locator('[aria-invalid]').count()).toBe(0);
    // Read out once, when it has settled.
    await page.getByRole('status').filter({ hasText: '$22.50' }).waitFor({ state: 'attached' });
    expect(await page.locator('[aria-live] [data-result], [data-result][aria-live]').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('output_tokens_30d')).toBe('2M');
    expect(asked).toEqual([]);
    // The address shows the same to who gets it, without scripts too.
    const address = page.url().slice(suite.url.length);
    const other = await browser.open(suite.url, { javaScriptEnabled: false });
    await other.goto(address);
    await other.getByText('$22.50').waitFor();
  });

  test('the estimator suggests the models of the chosen provider, and recognises another provider’s model', async () => {
    const page = await browser.open(suite.url);
    await page.goto('/migrate');
    const suggested = (model: string) => page.locator(`#models option[value="${model}"]`).count();
    expect([await suggested('gpt-4o'), await suggested('claude-3-haiku')]).toEqual([1, 0]);
    await page.getByLabel('Provider').selectOption('anthropic');
    expect([await suggested('gpt-4o'), await suggested('claude-3-haiku')]).toEqual([0, 1]);
    const model = page.getByLabel('Model');
    expect(await model.inputValue()).toBe('claude-3.5-sonnet');
    await page.getByText('Today, claude-3.5-sonnet').waitFor();
    expect(new URL(page.url()).searchParams.get('legacy_model')).toBe('claude-3.5-sonnet');
    // OpenRouter sells it too, and who knows who sells the other.
    await page.getByLabel('Provider').selectOption('openrouter');
    expect(await model.inputValue()).toBe('claude-3.5-sonnet');
    await model.fill('my-own-model');
    await page.getByLabel('Provider').selectOption('openai');
    expect(await model.inputValue()).toBe('my-own-model');
  });

  test('the longest name of a model fits the page', async () => {
    const page = await browser.open(suite.url);
    const name = 'W'.repeat(200);
    await page.goto(
      `/migrate?legacy_provider=openai&legacy_model=${name}&input_tokens_30d=1M&output_tokens_30d=1M`,
    );
    await page.getByText(`We don't know "${name}".`).waitFor();
    await page.getByLabel('Usage export').fill(`model,input_tokens,output_tokens\n${name},1000000,1000000`);
    await page.locator('[data-export-result]').getByText(name).first().waitFor();
    await expectGoodLooks(page, 'public-migrate-long-name');
  });

  test('a usage export is read in the page: all models, the plan, and no request contains any of it', async () => {
    const page = await browser.open(suite.url);
    await page.goto('/migrate');
    const asked = requestsOf(page);
    const result = page.locator('[data-export-result]');
    // A day of 20 models, 31M and 3.1M tokens each, as 30 days: 20 × (930M × $2.50 + 93M × $10.00).
    await page.getByLabel('Usage export').fill(EXPORT.split('\n').slice(0, 21).join('\n'));
    await result.getByText('$65,100.00').waitFor();
    await page.getByLabel('Usage export').fill('name,count\nx,1');
    await result.getByText('We don’t recognize this as a usage export.').waitFor();
    await page.getByLabel('Usage export').fill('model,input_tokens,output_tokens\ngpt-4o,1.234,1');
    await result.getByText('and counts such as 1234567.').waitFor();
    const choose = (buffer: Buffer) =>
      page
        .getByLabel('Or choose the file')
        .setInputFiles({ name: 'usage.csv', mimeType: 'text/csv', buffer });
    await choose(Buffer.from(`\uFEFF${EXPORT}`, 'utf16le'));
    await result.getByText('$65,100.00').waitFor();
    await choose(Buffer.alloc(0));
    await result.getByText('We don’t recognize this as a usage export.').waitFor();
    await choose(Buffer.from(EXPORT));
    await result.getByText('$65,100.00').waitFor();
    await result.getByText('of 31 days, scaled to 30').waitFor();
    // 20 × 1,440 a day are 20 a minute; 5 times that is within the pro plan.
    await result.getByText('A peak of 100 requests per minute needs the pro plan').waitFor();
    expect(await result.getByRole('row').count()).toBe(21);
    await screenshot(page, 'public-migrate-export');
    expect(asked).toEqual([]);
    expect(page.url()).toBe(`${suite.url}/migrate`);
  });

  test('code is copied with a button', async () => {
    const page = await browser.open(suite.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    // The button says so for two seconds, which a busy machine may need to look.
    await page.addInitScript(
      'const wait = setTimeout; window.setTimeout = (run, ms) => (ms === 2_000 ? 0 : wait(run, ms));',
    );
    await page.goto('/');
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('/v1/chat/completions');
  });
});
