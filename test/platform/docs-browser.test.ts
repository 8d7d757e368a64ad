import { describeInBrowser, useBrowser } from '../support/browser.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';

describeInBrowser('the API reference in a real browser', () => {
  const browser = useBrowser();
  let db: TestDatabase;
  let platform: TestPlatform;
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db);
  }, 60_000);
  afterAll(async () => {
    await platform?.close();
    await db?.close();
  });

  test('shows the operations under its strict policy, without a foreign request or an error', async () => {
    const page = await browser.open(platform.url);
    await page.goto('/docs/api');
    await page.getByText('/api/billing/topup').first().waitFor({ timeout: 20_000 });
    expect(await page.title()).toBe('API reference');
    await page.mouse.wheel(0, 4_000);
    await page.waitForLoadState('networkidle');
  }, 60_000);
});
