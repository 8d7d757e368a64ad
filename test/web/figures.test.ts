import type { Page } from 'playwright-core';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { costing, flushWhenFree, recordOf } from '../metering/support.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import { goInside, holdAnswers, openAs } from './dashboard.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 86_400_000;
/** A time zone ahead of UTC. */
const FAR_EAST = 'Pacific/Kiritimati';
const FAR_EAST_AHEAD_MS = 14 * HOUR_MS;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const isWithin = (value: number, from: number, to: number): boolean => value >= from && value < to;

/** The figures of the overview, their comparison and their chart. */
describeInBrowser('the figures of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  let page: Page;
  beforeAll(async () => {
    // Compares days up to the same time, also in a far-east time zone: the test must run within one day in both zones, and not in
    // its first minute.
    const isFar = (aheadMs: number): boolean =>
      isWithin((Date.now() + aheadMs) % DAY_MS, MINUTE_MS, DAY_MS - 3 * MINUTE_MS);
    await until(() => isFar(0) && isFar(FAR_EAST_AHEAD_MS), {
      timeoutMs: 5 * MINUTE_MS,
      what: 'a time of day far from midnight',
    });
    user = await suite.signUp('team');
    const now = Date.now();
    const at = (createdAt: number, changes: Partial<UsageRecord> = {}) =>
      recordOf(user, { createdAt, ...changes });
    const error = {
      status: 'error',
      errorCode: 'upstream_error',
      cost: 0n,
      outputTokens: 0,
      latencyMs: 9,
    } as const;
    await flushWhenFree(suite.db.pool, [
      // The previous seven days: two calls, and one later than the present time of day, which doesn't count.
      at(now - 8 * DAY_MS, { latencyMs: 100 }),
      at(now - 8 * DAY_MS, { latencyMs: 100 }),
      at(now - 7 * DAY_MS + MINUTE_MS),
      // The current window: three answers of 200 ms and one error.
      ...[0, 1, 2].map((n) =>
        at(now - n, { latencyMs: 200, servedModel: n === 0 ? 'gateway/qwen-pro' : 'gateway/fast' }),
      ),
      at(now - 3, error),
    ]);
  }, 6 * MINUTE_MS);
  const open = async (path: string): Promise<void> => {
    page = await browser.keep(
      () => openAs(browser, suite, user, path, { timezoneId: FAR_EAST }),
      (kept) => goInside(kept, path),
    );
  };

  const tile = async (label: string): Promise<string[]> => {
    const box = page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
    return (await box.innerText()).split(/\n+/).slice(1);
  };

  /**
   * The positions of the last match of each selector in the chart, all read at once, since the chart may be rendered again in
   * between. Undefined until all of them are there.
   */
  const boxesOf = (...selectors: string[]) =>
    page.evaluate<Box[] | undefined>(`(() => {
      const boxes = ${JSON.stringify(selectors)}.map((selector) => {
        const box = [...document.querySelectorAll(selector)].at(-1)?.getBoundingClientRect();
        return box && { x: box.x, y: box.y, width: box.width, height: box.height };
      });
      return boxes.every(Boolean) ? boxes : undefined;
    })()`);

  test('are compared with the previous window: rates by percentage points, latency of successful calls', async () => {
    await open('/dashboard');
    await page.getByText('compared with the 7 days before them up to the same time of day').waitFor();
    await page.getByText('▲', { exact: false }).first().waitFor();
    expect(await tile('Requests')).toEqual(['4', '▲ 100%']);
    expect(await tile('Error rate')).toEqual(['25%', '▲ 25 points']);
    expect(await tile('Latency, median')).toEqual(['200 ms', '▲ 100%']);
    expect((await tile('Tokens'))[0]).toBe('5.5K');
    await page.getByRole('button', { name: 'Today' }).click();
    await page.getByText('compared with yesterday up to the same time').waitFor();
    await page.getByText('no calls before').first().waitFor();
    expect(await tile('Requests')).toEqual(['4', 'no calls before']);
  });

  test.each([
    ['the account', () => '/dashboard'],
    ['a key', () => `/dashboard/keys/${user.keyId}?tab=analytics`],
  ])('of %s are marked while those of another window are awaited', async (_what, pathOf) => {
    await open(pathOf());
    const requestsAre = (count: string) =>
      until(async () => (await tile('Requests'))[0] === count, { what: `${count} requests` });
    await requestsAre('4');
    const days = async (): Promise<string> =>
      (await page.locator('figure .recharts-xAxis-tick-labels text').allTextContents()).join();
    await until(async () => (await days()).split(',').length === 7, { what: 'the names of seven days' });
    const week = await days();
    // No other test loads this window, whose figures may be cached in the shared page.
    const { held, release } = await holdAnswers(page, '"usageSeries"');
    await page.getByRole('button', { name: '90 days' }).click();
    await held;
    await page.getByText('The last 90 UTC days').waitFor();
    const busy = page.locator('[aria-busy=true]');
    await busy.filter({ hasText: 'Error rate' }).waitFor();
    await page.getByRole('region', { name: 'Models' }).locator('[aria-busy=true]').waitFor();
    expect((await tile('Requests'))[0]).toBe('4');
    // The chart only has the days of its figures: other days would look like days without calls.
    await until(async () => (await days()) === week, { what: 'the days of the figures' });
    release();
    await requestsAre('7');
    await until(async () => (await days()) !== week, { what: 'the days of the other window' });
    await until(async () => (await busy.count()) === 0, { what: 'everything of the other window' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('show that there were no calls', async () => {
    const idle = await suite.signUp('free');
    await flushWhenFree(suite.db.pool, [recordOf(idle, { createdAt: Date.now() - 20 * DAY_MS })]);
    const other = await openAs(browser, suite, idle, '/dashboard');
    const latency = other.locator('dl > div').filter({ has: other.getByText('Latency, median') });
    await latency.getByText('no calls').waitFor();
    expect(await latency.innerText()).not.toContain('ms');
  });

  test('show the smallest amounts in full', async () => {
    const frugal = await suite.signUp('free');
    await flushWhenFree(suite.db.pool, [recordOf(frugal, costing(150_000n))]);
    page = await openAs(browser, suite, frugal, '/dashboard?window=1');
    const labels = page.getByRole('figure').locator('.recharts-label-list text', { hasText: '$' });
    await labels.first().waitFor();
    await until(async () => (await labels.allTextContents()).join() === '$0.00000015', {
      what: 'the whole amount above its bar',
    });
    // In 90 days, the name of the last day is wider than its bar, but not cut off.
    await page.getByRole('button', { name: '90 days' }).click();
    const names = 'figure .recharts-xAxis-tick-labels text';
    await until(async () => (await page.locator(names).count()) === 7, {
      what: 'a name for each other week',
    });
    await until(
      async () => {
        const [name, chart] = (await boxesOf(names, 'figure [role=application]')) ?? [];
        return name && chart && name.x + name.width <= chart.x + chart.width;
      },
      { what: 'the name of the last day to be whole' },
    );
  });

  test('of today are shown per hour, stacked by model, with values at the axis and a tooltip at the pointer', async () => {
    await open('/dashboard?window=1');
    const chart = page.getByRole('application', { name: /^Cost per hour/ });
    await chart.waitFor();
    const figure = page.getByRole('figure');
    await figure.locator('.recharts-bar-rectangle path').first().hover();
    await figure.getByText('$0.00075, 4 requests, 5,500 tokens, 1 error').waitFor();
    await figure.getByText('gateway/qwen-pro $0.00025').waitFor();
    await figure.getByText('gateway/fast $0.0005').waitFor();
    // A label is above its bar, and nowhere else.
    const [bar, label] = await until(
      () => boxesOf('figure .recharts-bar-rectangle path', 'figure .recharts-label-list text'),
      { what: 'a bar and its label' },
    );
    expect(label!.y + label!.height).toBeLessThanOrEqual(bar!.y + 2);
    expect(label!.x).toBeLessThan(bar!.x + bar!.width);
    expect(label!.x + label!.width).toBeGreaterThan(bar!.x);
    await figure.locator('.recharts-yAxis-tick-labels').getByText('$0.0008', { exact: true }).waitFor();
    // The arrow keys go from hour to hour.
    await page.mouse.move(0, 0);
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    const reached = (hour: string) => figure.getByRole('status').filter({ hasText: hour }).waitFor();
    await reached('01:00');
    // Home and End go to the ends of the day, Page Up and Page Down move by six hours.
    for (const [key, hour] of [
      ['PageDown', '07:00'],
      ['End', '23:00'],
      ['PageUp', '17:00'],
      ['Home', '00:00'],
      ['PageUp', '00:00'],
    ] as const) {
      await page.keyboard.press(key);
      await reached(hour);
    }
  });

  test('follow the chosen measure, also for the models', async () => {
    await open('/dashboard?window=30');
    await page.getByRole('button', { name: 'Tokens' }).click();
    await page.getByRole('application', { name: /^Tokens per day/ }).waitFor();
    const models = page.getByRole('region', { name: 'Models' }).getByRole('listitem');
    await models.filter({ hasText: /gateway\/fast.*tokens/s }).waitFor();
    // The simulator is marked as such, here and in the last calls.
    await models.filter({ hasText: 'gateway/fast' }).getByText('simulated').waitFor();
    await page.getByRole('region', { name: 'Last calls' }).getByText('simulated').first().waitFor();
    // One day per week is named below the chart, the last one today.
    const names = page.getByRole('figure').locator('.recharts-xAxis-tick-labels text');
    await until(async () => (await names.count()) === 5, { what: 'a name for each week' });
  });

  test('use UTC days like billing, or local days if chosen', async () => {
    await open('/dashboard?window=7');
    await page.getByText('Days in UTC. Money is counted by UTC day.').waitFor();
    await page.getByRole('button', { name: 'Local' }).click();
    await page.getByText(`Days in ${FAR_EAST}.`).waitFor();
    // The days change once the answer has come.
    await page.locator('[data-awaiting]').first().waitFor({ state: 'detached' });
    const today = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: FAR_EAST });
    // The last day is today.
    await page.getByRole('application', { name: /^Cost per day/ }).focus();
    for (let day = 1; day < 7; day++) await page.keyboard.press('ArrowRight');
    const status = page.getByRole('figure').getByRole('status');
    await status
      .filter({ hasText: today.format(Date.now()) })
      .filter({ hasText: '4 requests' })
      .waitFor();
  });
});
