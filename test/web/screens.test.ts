import type { Page } from 'playwright-core';
import { signUp } from '../support/api.js';
import { describeInBrowser, KEEP_SCREENS, NARROW, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import {
  callsOf,
  expectGoodLooks,
  goInside,
  holdAnswers,
  keepAs,
  openAs,
  twoWeeksOfCalls,
} from './dashboard.js';

/** Screens that are only checked by eye: everything new on them is on another screen, too. */
const VARIANTS = ['keys-create', 'key-analytics-table', 'key-caps', 'usage-none'];

/** Backgrounds of the row under the pointer and of its cells. */
const COLOURS = `(() => {
  const row = document.querySelector('tbody tr:hover');
  const all = [row, ...row.children].map((one) => getComputedStyle(one).backgroundColor);
  return [...new Set(all)];
})()`;

interface Width {
  scrollWidth: number;
  clientWidth: number;
}

interface Bar {
  getBoundingClientRect(): { width: number; y: number };
}

/** Every page of the dashboard, in both themes and widths: axe finds nothing serious, and nothing scrolls sideways. */
describeInBrowser('the screens of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  let newcomer: Pick<StackUser, 'token'>;
  beforeAll(async () => {
    user = await suite.signUp('team');
    newcomer = await signUp(suite.url);
    await twoWeeksOfCalls(suite.db, user);
    await suite.api(user.token, 'PATCH', `/api/keys/${user.keyId}`, {
      // As long as allowed, with a word wider than a phone.
      name: `production, chat service ${'x'.repeat(75)}`,
      monthly_limit_usd: 0.05,
      daily_limit_usd: 25,
    });
    await suite.api(user.token, 'POST', '/api/billing/topup', { amount_usd: 50 });
    const { api_key: other } = await suite.api<{ api_key: { id: string } }>(user.token, 'POST', '/api/keys', {
      name: 'ci',
    });
    await suite.api(user.token, 'PATCH', `/api/keys/${other.id}`, { status: 'disabled' });
  }, 60_000);

  const click = (role: 'button' | 'link', name: string | RegExp) => (page: Page) =>
    page.getByRole(role, { name }).first().click();

  /** Name, path, actions, and an element that shows that everything has loaded. */
  const screens = (): [string, string, (page: Page) => Promise<unknown>, string | RegExp][] => {
    const key = `/dashboard/keys/${user.keyId}`;
    const all: [string, string, (page: Page) => Promise<unknown>, string | RegExp][] = [
      ['overview-used', '/dashboard?window=30', async () => undefined, 'gateway/qwen-pro'],
      ['keys', '/dashboard/keys', async () => undefined, 'production, chat service'],
      ['keys-create', '/dashboard/keys?create=true', async () => undefined, 'What will use this key'],
      ['keys-secret', '/dashboard/keys?create=true', makeKey, /Authorization: Bearer sk-pr-/],
      ['key-snippets', key, async () => undefined, /Authorization: Bearer/],
      ['key-analytics', `${key}?tab=analytics&window=7`, async () => undefined, 'gateway/qwen-pro'],
      ['key-analytics-table', `${key}?tab=analytics`, click('button', 'Show as table'), 'UTC day'],
      ['key-caps', `${key}?tab=caps`, async () => undefined, 'Hard cap'],
      ['key-caps-edit', `${key}?tab=caps`, click('button', 'Edit daily cap'), 'Leave empty for no limit'],
      ['key-delete', key, click('button', 'Delete key'), 'Calls with this key will fail with 401'],
      ['usage', '/dashboard/usage?window=30', async () => undefined, '503 upstream_unavailable'],
      [
        'usage-none',
        '/dashboard/usage?model=gateway/embed',
        async () => undefined,
        'No calls in this window',
      ],
      ['billing', '/dashboard/billing', async () => undefined, 'gateway/deepseek-reason'],
      ['profile', '/dashboard/profile', async () => undefined, 'Ends all sessions, deletes all keys'],
      ['profile-delete', '/dashboard/profile', click('button', 'Delete account'), 'Type the email address'],
    ];
    return KEEP_SCREENS ? all : all.filter(([name]) => !VARIANTS.includes(name));
  };
  const makeKey = async (page: Page): Promise<void> => {
    await page.getByLabel('Name').fill('a machine');
    await page.getByRole('button', { name: 'Create key' }).last().click();
  };

  test('are accessible in light and dark, and fit desktop and phone', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/models');
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    for (const [name, address, act, sign] of screens()) {
      await goInside(page, address);
      await page.locator('h1').waitFor();
      await act(page);
      await page.getByText(sign).first().waitFor();
      await expectGoodLooks(page, name);
    }
  }, 120_000);

  test('of a new account are accessible in light and dark, and fit desktop and phone', async () => {
    const page = await keepAs(browser, suite, newcomer, '/dashboard/models');
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    for (const [name, address, sign] of [
      ['first-run', '/dashboard', 'Create my first key'],
      ['keys-empty', '/dashboard/keys', 'No keys yet.'],
      ['usage-empty', '/dashboard/usage', 'Calls with your keys appear here'],
      ['alerts-empty', '/dashboard/alerts', 'Alerts appear here with their delivery status'],
    ] as const) {
      await goInside(page, address);
      await page.getByText(sign).first().waitFor();
      await expectGoodLooks(page, name);
    }
  });

  test('on a phone the pages are in a menu, everything in it large enough for a finger', async () => {
    const page = await openAs(browser, suite, user, '/dashboard/profile', {
      viewport: NARROW,
      hasTouch: true,
      isMobile: true,
    });
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    const menu = page.getByRole('button', { name: 'Menu' });
    const nav = page.getByRole('navigation', { name: 'Pages' });
    expect(await nav.isVisible()).toBe(false);
    await menu.tap();
    await nav.getByText('Developers').waitFor();
    const controls = page.locator('header a, header button, nav a, button[aria-controls]');
    const heights = await controls.evaluateAll((all: { getBoundingClientRect(): { height: number } }[]) =>
      all.map((one) => Math.round(one.getBoundingClientRect().height)),
    );
    expect(heights.length).toBeGreaterThan(10);
    expect(heights.filter((height) => height < 44)).toEqual([]);
    await page.keyboard.press('Escape');
    await nav.waitFor({ state: 'hidden' });
    await menu.tap();
    const { held, release } = await holdAnswers(page, '"usageEvents"');
    await nav.getByRole('link', { name: 'Usage' }).tap();
    await page.waitForURL('**/dashboard/usage');
    await nav.waitFor({ state: 'hidden' });
    // Placeholder rows already have two lines.
    await held;
    const bars = callsOf(page).locator('tr').nth(1).locator('td:visible span');
    await bars.first().waitFor();
    // All measured at once, since new content above moves them.
    const boxes = await bars.evaluateAll((all: Bar[]) =>
      all.map((one) => {
        const { width, y } = one.getBoundingClientRect();
        return { width, y: Math.round(y) };
      }),
    );
    expect(boxes.map(({ width }) => width > 40)).toEqual([true, true, true, true, true]);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(2);
    release();
    const row = callsOf(page).locator('tbody tr', { hasText: 'gateway/deepseek-code' }).first();
    await row.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    // Names often differ at the end.
    const name = row.locator('td', { hasText: 'gateway/' });
    const widths = await name
      .locator('xpath=descendant-or-self::*')
      .evaluateAll((all: Width[]) =>
        all.map(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const),
      );
    expect(widths.filter(([whole, shown]) => shown > 0 && whole > shown)).toEqual([]);
    // A tapped row keeps no colour.
    await row.hover();
    expect(await page.evaluate(COLOURS)).toEqual(['rgba(0, 0, 0, 0)']);
  });
});
