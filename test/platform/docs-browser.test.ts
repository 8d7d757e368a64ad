import type { Browser } from 'playwright-core';
import { describeInBrowser, guardedPage, launchBrowser } from '../support/browser.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';

describeInBrowser('the API reference in a real browser', () => {
  let db: TestDatabase;
  let platform: TestPlatform;
  let browser: Browser;
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db);
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.close();
    await db?.close();
  });

  test('shows the operations under its strict policy, without a foreign request or an error', async () => {
    const { page, faults } = await guardedPage(browser, platform.url);
    await page.goto(`${platform.url}/docs/api`);
    await page.getByText('/api/billing/topup').first().waitFor({ timeout: 20_000 });
    expect(await page.title()).toBe('API reference');
    await page.mouse.wheel(0, 4_000);
    await page.waitForLoadState('networkidle');
    expect(faults).toEqual({ foreign: [], errors: [] });
  }, 60_000);
});
