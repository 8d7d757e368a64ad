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

/** Both themes in both widths; for tests alone, each of them once. */
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

/** The list of calls. Without `exact`, it would also be the "Last calls" of the overview. */
export const callsOf = (page: Page): Locator => page.getByRole('region', { name: 'Calls', exact: true });

/** Resolves once this is what has the focus. */
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

/** Resolves once an answer that contains a text has come to the page. One that was given up can't be read. */
export async function answerWith(page: Page, text: string): Promise<void> {
  await page.waitForResponse(async (response) => {
    const body = await response.text().catch(() => '');
    return body.includes(text);
  });
}

/**
 * Clicks a button that copies, and resolves once it has said so. It says so for two seconds only: the page
 * itself looks, since this process may be kept from its processor for as long.
 */
export async function clickToCopy(button: Locator): Promise<void> {
  const element = await button.elementHandle();
  const said = element.evaluate(
    (itself) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (itself.textContent?.includes('Copied')) resolve();
          else itself.ownerDocument.defaultView?.requestAnimationFrame(look);
        };
        look();
      }),
  );
  await Promise.all([said, button.click()]);
}

/**
 * Looks at what a page shows in several themes and widths: nothing grave to axe, nothing that scrolls sideways. Leaves the
 * page as it found it.
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

/** An empty page of somebody who is signed in, with the cookie as a browser would have it. */
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

/** Questions to GraphQL that a page has under way. */
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
 * Takes the session from a page of `pageOf`, as if its cookie had run out. Each answer renews the cookie, so no question may be
 * under way then, and none is let through meanwhile.
 * @returns the cookies that it had
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

/** A page of the dashboard as somebody who is signed in has it. */
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

/** Whose session a page has that tests go on in. */
const sessions = new WeakMap<Page, string>();

/** Loads a page for somebody else. Nothing is left of who had it before, and no answer that is under way brings it back. */
async function handOver(page: Page, url: string, token: string): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.context().addCookies([{ name: 'pr_session', value: token, url }]);
}

/**
 * A page for all tests of a `describe` that open it so (`TestBrowser.keep`). Each test begins at its address: without a load as
 * long as the user is the same, otherwise with one. Sockets that a test has replaced, scripts that it has added and a session
 * that it has ended would stay: such a test needs `pageOf` or `openAs`.
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

/** Two weeks of calls that look like somebody's, the same each time; some fail, one fell back, one was left. */
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

/** Reloads a page that would lose something, and stays on it. The kinds of questions that the browser asks, later ones included. */
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
