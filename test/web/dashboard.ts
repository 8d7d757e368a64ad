import type { BrowserContext, Locator, Page, Request } from 'playwright-core';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { expectAccessible } from '../support/axe.js';
import {
  KEEP_SCREENS,
  NARROW,
  type PageOptions,
  screenshot,
  type TestBrowser,
  WIDE,
} from '../support/browser.js';
import type { TestDatabase } from '../support/database.js';
import type { ProductSuite } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';

/** Both themes and both widths, each once. */
export const LOOKS = [
  ['light', WIDE],
  ['dark', NARROW],
  ...(KEEP_SCREENS
    ? ([
        ['dark', WIDE],
        ['light', NARROW],
      ] as const)
    : []),
] as const;

/** The list of calls. Without `exact`, this would also match "Last calls" of the overview. */
export const callsOf = (page: Page): Locator => page.getByRole('region', { name: 'Calls', exact: true });

/** Resolves once the element has the focus. */
export const hasFocus = (element: Locator): Promise<void> =>
  element.and(element.page().locator(':focus')).waitFor();

export interface HeldAnswers {
  /** Resolves once an answer is held back. */
  held: Promise<void>;
  release(): void;
}

/** Holds back the answers of GraphQL that contain a text, until they are released. */
export async function holdAnswers(page: Page, text: string): Promise<HeldAnswers> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    if ((await response.text()).includes(text)) {
      held.resolve();
      await released.promise;
    }
    await route.fulfill({ response });
  });
  return { held: held.promise, release: released.resolve };
}

/** Resolves once the page has received an answer that contains a text. An aborted one can't be read. */
export async function answerWith(page: Page, text: string): Promise<void> {
  await page.waitForResponse(async (response) => {
    const body = await response.text().catch(() => '');
    return body.includes(text);
  });
}

/**
 * Clicks a copy button, and resolves once it shows "Copied". It does so for two seconds only, so the page itself
 * watches: this process may not get a processor for as long.
 */
export async function clickToCopy(button: Locator): Promise<void> {
  const element = await button.elementHandle();
  const copied = element.evaluate(
    (itself) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (itself.textContent?.includes('Copied')) resolve();
          else itself.ownerDocument.defaultView?.requestAnimationFrame(look);
        };
        look();
      }),
  );
  await Promise.all([copied, button.click()]);
}

/**
 * Checks a page in several themes and widths: axe finds nothing serious, and nothing scrolls sideways. Restores the page.
 */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  for (const [colorScheme, viewport] of LOOKS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await expectAccessible(page);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect([name, width]).toEqual([name, viewport.width]);
    await screenshot(page, name);
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}

/** An empty page with the session cookie of a signed-in user. */
export async function pageOf(
  browser: TestBrowser,
  { url }: Pick<ProductSuite, 'url'>,
  { token }: Pick<StackUser, 'token'>,
  options: PageOptions = {},
): Promise<Page> {
  const page = await browser.open(url, options);
  followQuestions(page);
  await page.context().addCookies([{ name: 'pr_session', value: token, url }]);
  return page;
}

/** The GraphQL requests of a page that are under way. */
const questions = new WeakMap<Page, Set<Request>>();

function followQuestions(page: Page): void {
  const open = new Set<Request>();
  questions.set(page, open);
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/**
 * Removes the session of a page of `pageOf`, as if its cookie had expired. Each answer renews the cookie, so no request may be
 * under way then, and new ones are blocked meanwhile.
 * @returns the removed cookies
 */
export async function dropSession(page: Page): ReturnType<BrowserContext['cookies']> {
  const context = page.context();
  await page.route('**/graphql', (route) => route.abort());
  await until(() => questions.get(page)!.size === 0, { what: 'the answers under way' });
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  return cookies;
}

/** A page of the dashboard for a signed-in user. */
export async function openAs(
  browser: TestBrowser,
  product: Pick<ProductSuite, 'url'>,
  user: Pick<StackUser, 'token'>,
  path: string,
  options: PageOptions = {},
): Promise<Page> {
  const page = await pageOf(browser, product, user, options);
  await page.goto(path);
  return page;
}

/**
 * Navigates to a page of the dashboard by its address, without a page load, as a link does. Don't use it to test loading. It
 * visits another page first, so everything on the page was rendered after the call.
 */
export async function goInside(page: Page, path: string): Promise<void> {
  const name = path.startsWith('/dashboard/profile') ? 'Models' : 'Profile';
  const between = page.getByRole('heading', { level: 1, name, exact: true });
  const push = (address: string): Promise<unknown> =>
    page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
  await push(`/dashboard/${name.toLowerCase()}`);
  await between.waitFor();
  await push(path);
  await between.waitFor({ state: 'detached' });
}

/** The token of each page that tests share. */
const sessions = new WeakMap<Page, string>();

/** Loads a page for another user. Nothing of the previous user is left, and no late answer brings it back. */
async function handOver(page: Page, url: string, token: string): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.context().addCookies([{ name: 'pr_session', value: token, url }]);
}

/**
 * A page that the tests of a `describe` share (`TestBrowser.keep`). Each test begins at its path, with a page load only if the user
 * changes. Replaced sockets, added scripts and an ended session would stay: such a test needs `pageOf` or `openAs`.
 */
export function keepAs(
  browser: TestBrowser,
  product: Pick<ProductSuite, 'url'>,
  { token }: Pick<StackUser, 'token'>,
  path: string,
  options: Pick<PageOptions, 'expectedErrors'> = {},
): Promise<Page> {
  return browser.keep(
    async () => {
      const page = await openAs(browser, product, { token }, path, options);
      sessions.set(page, token);
      return page;
    },
    async (page) => {
      if (sessions.get(page) === token) return goInside(page, path);
      await handOver(page, product.url, token);
      sessions.set(page, token);
      await page.goto(path);
    },
    options,
  );
}

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
const MODELS = ['gateway/fast', 'gateway/fast', 'gateway/fast', 'gateway/qwen-pro', 'gateway/deepseek-code'];

/** Two weeks of realistic calls, the same each time; some fail, one used a fallback, one was cancelled. */
export async function twoWeeksOfCalls(db: TestDatabase, { accountId, keyId }: StackUser): Promise<void> {
  const now = Date.now();
  const records: UsageRecord[] = [];
  for (let day = 0; day < 14; day++) {
    const calls = day === 4 ? 0 : 3 + ((day * 5) % 9);
    for (let call = 0; call < calls; call++) {
      const n = records.length;
      const servedModel = MODELS[n % MODELS.length]!;
      records.push(
        recordOf(
          { accountId, keyId },
          {
            createdAt: now - day * DAY_MS - call * 61 * SECOND_MS,
            servedModel,
            requestedModel: n % 11 === 4 ? 'gateway/qwen-pro' : servedModel,
            inputTokens: 200 + ((n * 37) % 900),
            outputTokens: 50 + ((n * 61) % 400),
            latencyMs: 180 + ((n * 131) % 1_400),
            clientAborted: n % 17 === 3,
            estimated: n % 17 === 3,
            ...(n % 8 === 6 && {
              status: 'error' as const,
              errorCode: 'upstream_unavailable',
              httpStatus: 503,
              outputTokens: 0,
              cost: 0n,
            }),
          },
        ),
      );
    }
  }
  await flushWhenFree(
    db.pool,
    records.toSorted((a, b) => a.createdAt - b.createdAt),
  );
}

/** Tries to reload a page that would lose something, and stays on it. Returns the kinds of dialogs, later ones included. */
export async function questionsOnReload(page: Page): Promise<string[]> {
  const asked: string[] = [];
  page.on('dialog', (question) => {
    asked.push(question.type());
    void question.dismiss();
  });
  await page.evaluate('setTimeout(() => location.reload())');
  await until(() => asked.length > 0, { what: 'a question' });
  return asked;
}
