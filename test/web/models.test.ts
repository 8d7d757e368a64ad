import type { LeaderboardMixOutput } from '../../src/services/leaderboard/mix.outputs.js';
import { HOUR_MS, rollUpAt } from '../analytics/support.js';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { describeInBrowser, NARROW, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { expectGoodLooks, openAs } from './dashboard.js';

describeInBrowser('the models, ranked for one’s own calls', () => {
  const browser = useBrowser();
  const suite = useProduct();

  test('show the account’s figures beside everyone’s, by length of answers, as in the API', async () => {
    const user = await suite.signUp('free');
    const now = Date.now();
    const records = ['gateway/fast', 'gateway/qwen-pro'].flatMap((model) =>
      Array.from({ length: 120 }, (_, i) =>
        recordOf(user, {
          createdAt: now - HOUR_MS - i,
          servedModel: model,
          requestedModel: model,
          inputTokens: 600,
          outputTokens: i % 4 === 0 ? 700 : 40,
          latencyMs: i % 4 === 0 ? 2_400 : 300,
        }),
      ),
    );
    await flushWhenFree(suite.db.pool, records);
    await rollUpAt(suite.db, now);
    const { entries } = await until(
      async () => {
        const mix = await suite.api<LeaderboardMixOutput>(user.token, 'GET', '/api/leaderboard/mine');
        return mix.entries.filter(({ rank }) => rank !== null).length >= 2 ? mix : undefined;
      },
      { what: 'the roll-up to arrive' },
    );

    // The order also depends on calls of other test files, which share the product.
    const rankedNames = entries
      .filter(({ rank }) => rank !== null)
      .map(({ model_public_name: name }) => name);
    expect(rankedNames.toSorted()).toEqual(['gateway/fast', 'gateway/qwen-pro']);

    const page = await openAs(browser, suite, user, '/dashboard');
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    const ranked = page.getByRole('region', { name: 'Models ranked for your calls' }).locator('tbody tr');
    await ranked.first().getByRole('link', { name: entries[0]!.model_public_name }).waitFor();
    expect(await ranked.count()).toBe(6);
    const pro = ranked.filter({ hasText: 'gateway/qwen-pro' });
    // (600 × 0.5 + 205 × 1.5) ÷ 805.
    expect((await pro.innerText()).replaceAll(/\s+/g, ' ')).toMatch(/not in your plan.*\$0\.75/);

    const lines = page
      .getByRole('region', { name: 'Your latency compared with everyone’s' })
      .locator('tbody tr');
    const texts = (await lines.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(
      texts.map((text) => /^(?:gateway\/\S+|up to 99 tokens|500 to 1,999 tokens)/.exec(text)?.[0]),
    ).toEqual(rankedNames.flatMap((name) => [name, 'up to 99 tokens', '500 to 1,999 tokens']));
    const fast = entries.find(({ model_public_name: name }) => name === 'gateway/fast')!;
    const [ofFast, shortOfFast] = texts.slice(3 * rankedNames.indexOf('gateway/fast'));
    const shown = (ms: number | null) => `${ms!.toLocaleString('en-US')} ms`;
    expect(ofFast).toContain(`120 ${shown(fast.p95_latency_ms)} ${shown(fast.everyone_p95_latency_ms)}`);
    expect(shortOfFast).toContain(`90 ${shown(fast.bands[0]!.p95_latency_ms)}`);
    await expectGoodLooks(page, 'models');

    await page.getByRole('button', { name: '30 days' }).click();
    await page.waitForURL('**/dashboard/models?window=30');
    await ranked.first().waitFor();
  });

  test('show that there are no calls yet', async () => {
    const newcomer = await suite.signUp('free');
    const page = await openAs(browser, suite, newcomer, '/dashboard/models');
    await page.getByText('No successful calls in the last 7 days.').waitFor();
    const ranked = page.getByRole('region', { name: 'Models ranked for your calls' });
    const rowText = async (model: string) =>
      (await ranked.locator('tbody tr', { hasText: model }).innerText()).replaceAll(/\s+/g, ' ');
    // The catalog's data about a model needs no calls.
    expect(await rowText('gateway/qwen-pro')).toMatch(/not in your plan – – \$0\.50 \$1\.50 [\d,]{5,} – –$/);
    expect(await rowText('gateway/embed')).toMatch(/\$\d\.\d\d+ – [\d,]{5,} – –$/);
    await page.setViewportSize(NARROW);
    expect(await rowText('gateway/qwen-pro')).toMatch(
      /not in your plan \$0\.50 in, \$1\.50 out per 1M [\d,]{5,} context$/,
    );
    expect(await ranked.innerText()).not.toContain('#');
    await expectGoodLooks(page, 'models-empty');
  });
});
