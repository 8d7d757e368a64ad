import { describeInBrowser, useBrowser } from '../support/browser.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

describeInBrowser('the API reference in a real browser', () => {
  const browser = useBrowser();
  const suite = usePlatform();

  test('shows the operations under its strict policy, without a foreign request or an error', async () => {
    const page = await browser.open(suite.url);
    const pending = new Set<string>();
    page.on('request', (request) => pending.add(request.url()));
    page.on('requestfinished', (request) => pending.delete(request.url()));
    page.on('requestfailed', (request) => pending.delete(request.url()));
    await page.goto('/docs/api');
    await page.getByText('/api/billing/topup').first().waitFor({ timeout: 20_000 });
    expect(await page.title()).toBe('API reference');
    await page.mouse.wheel(0, 4_000);
    // What scrolling brings into view is drawn, and has asked for what it needs.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await until(() => pending.size === 0).catch(() => expect([...pending]).toEqual([]));
  }, 60_000);
});
