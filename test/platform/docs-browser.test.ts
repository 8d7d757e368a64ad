import { describeInBrowser, useBrowser } from '../support/browser.js';
import { usePlatform } from '../support/platform-suite.js';

describeInBrowser('the API reference in a real browser', () => {
  const browser = useBrowser();
  const suite = usePlatform();

  test('shows the operations under its strict policy, without a foreign request or an error', async () => {
    const page = await browser.open(suite.url);
    await page.goto('/docs/api');
    await page.getByText('/api/billing/topup').first().waitFor({ timeout: 20_000 });
    expect(await page.title()).toBe('API reference');
    await page.mouse.wheel(0, 4_000);
    await page.waitForLoadState('networkidle');
  }, 60_000);
});
