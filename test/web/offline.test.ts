import type { Page } from 'playwright-core';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { ask } from '../playground/support.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { callsOf, openAs, pageOf } from './dashboard.js';

/** The browser's own errors for requests that fail on purpose. */
const CUT =
  /could not be fetched|Failed to load resource|ERR_FAILED|ERR_INTERNET_DISCONNECTED|WebSocket connection|Failed to fetch/;
const BILLING_PART = '**/assets/billing-page-*.js';
const DRAWER_PART = '**/assets/call-drawer-*.js';
const DELETE_PART = '**/assets/delete-session-*.js';

/** Pages and parts that aren't loaded yet, while the server is away or has another build. */
describeInBrowser('a part of the dashboard that can not be fetched', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('free');
    await flushWhenFree(suite.db.pool, [recordOf(user, { createdAt: Date.now() })]);
  });

  /** Paths of the documents that the page loads from now on. */
  const documentsOf = (page: Page): string[] => {
    const documents: string[] = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname);
    });
    return documents;
  };
  /** Makes the server have another build from now on. */
  const rebuild = (page: Page): Promise<unknown> =>
    page.route('**/login', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<!doctype html><script type="module" src="/assets/app-another.js"></script>',
      }),
    );
  /** Makes the server return no page and no part from now on. */
  const takeAway = async (page: Page, part: string): Promise<void> => {
    await page.route('**/login', (route) => route.abort());
    await page.route(part, (route) => route.abort());
  };
  /** The server has the part again, but the browser doesn't fetch it before a reload, since some browsers remember failures. */
  const bringBack = async (page: Page, part: string, documents: string[]): Promise<void> => {
    await page.unroute(part);
    await page.route(part, (route) => (documents.length === 0 ? route.abort() : route.continue()));
  };
  /** The network is back: the page asks the server, and either reloads or reports the missing part again. */
  const comesBack = async (page: Page): Promise<void> => {
    const asked = page.waitForResponse((response) => new URL(response.url()).pathname === '/login');
    await page.evaluate('window.dispatchEvent(new Event("online"))');
    await asked;
  };
  const cannotBeShown = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: 'This page can’t be shown' }).waitFor();

  /**
   * A page whose socket never opens: three seconds after it opens, missing parts would be tried again during the test. Each test loads
   * the page again, without stored drafts of the previous one.
   */
  const openAlone = (path: string): Promise<Page> =>
    browser.keep(
      async () => {
        const page = await pageOf(browser, suite, user, { expectedErrors: CUT });
        await page.routeWebSocket(/graphql/, () => undefined);
        await page.goto(path);
        return page;
      },
      async (page) => {
        await page.evaluate('localStorage.clear(); sessionStorage.clear()');
        await page.goto(path);
      },
      { expectedErrors: CUT },
    );

  /** A page with a draft, and with billing unreachable. */
  const openCut = async (): Promise<{ page: Page; documents: string[] }> => {
    const page = await openAlone('/dashboard/profile');
    await takeAway(page, BILLING_PART);
    const documents = documentsOf(page);
    await page.getByRole('button', { name: 'Edit email below' }).click();
    await page.getByRole('textbox', { name: 'Email below' }).fill('7.25');
    return { page, documents };
  };
  const goToBilling = async (page: Page): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name: 'Billing' }).click();
    await cannotBeShown(page);
    await page.getByRole('navigation').first().waitFor();
  };
  const draftIsThere = async (page: Page): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name: 'Profile' }).click();
    const field = page.getByRole('textbox', { name: 'Email below' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('7.25');
  };

  test('is reported in the outline if nothing of the dashboard could be fetched, and is loaded by itself once the server answers', async () => {
    const page = await pageOf(browser, suite, user, { expectedErrors: CUT });
    await page.route('**/assets/app-*.js', (route) => route.abort());
    await page.goto('/dashboard/keys');
    await page.getByText('This page couldn’t be loaded.').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.route('**/graphql', (route) => route.abort());
    await page.getByRole('link', { name: 'Try again' }).click();
    await cannotBeShown(page);
    await page.unroute('**/graphql');
    await page.getByRole('link', { name: 'of a test' }).waitFor();
  });

  test('is reported inside the layout, tried again by a button, and loses no draft', async () => {
    const { page, documents } = await openCut();
    await goToBilling(page);
    expect(documents).toEqual([]);
    await page.unroute('**/login');
    await page.unroute(BILLING_PART);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    expect(documents).toEqual(['/dashboard/billing']);
    await draftIsThere(page);
  });

  test('is loaded by itself once the server is back, but not over text typed meanwhile', async () => {
    const { page, documents } = await openCut();
    await goToBilling(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Type a command' }).fill('top');
    await page.unroute('**/login');
    await bringBack(page, BILLING_PART, documents);
    await comesBack(page);
    await cannotBeShown(page);
    expect(documents).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Type a command' }).waitFor({ state: 'detached' });
    await comesBack(page);
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    expect(documents).toEqual(['/dashboard/billing']);
    await draftIsThere(page);
  });

  test('reloads the page once when the server has another build', async () => {
    const { page, documents } = await openCut();
    await rebuild(page);
    const reloaded = page.waitForRequest((request) => request.isNavigationRequest());
    await goToBilling(page);
    await reloaded;
    await cannotBeShown(page);
    // The request for the build was answered, and the page wasn't reloaded.
    await page.waitForLoadState('networkidle');
    expect(documents).toEqual(['/dashboard/billing']);
    await draftIsThere(page);
  });

  /** The list of calls, with their details unreachable. */
  const openCalls = async (): Promise<{ page: Page; documents: string[] }> => {
    const page = await openAlone('/dashboard/usage');
    await page.route(DRAWER_PART, (route) => route.abort());
    return { page, documents: documentsOf(page) };
  };

  test('is tried again within a page, too: once by itself while the server answers', async () => {
    const { page, documents } = await openCalls();
    const reloaded = page.waitForRequest((request) => request.isNavigationRequest());
    await callsOf(page).getByRole('row').filter({ hasText: 'gateway/fast' }).click();
    await reloaded;
    await cannotBeShown(page);
    await comesBack(page);
    await cannotBeShown(page);
    expect(documents).toEqual(['/dashboard/usage']);
    await page.unroute(DRAWER_PART);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('dialog', { name: 'Call' }).waitFor();
  });

  test('reloads the page once for another build also within a page', async () => {
    const { page, documents } = await openCalls();
    await rebuild(page);
    const reloaded = page.waitForRequest((request) => request.isNavigationRequest());
    await callsOf(page).getByRole('row').filter({ hasText: 'gateway/fast' }).click();
    await reloaded;
    await cannotBeShown(page);
    await page.waitForLoadState('networkidle');
    expect(documents).toEqual(['/dashboard/usage']);
  });

  test('keeps the page and shows an error if it is a dialog without an address', async () => {
    const asker = await suite.signUp('free');
    await ask(suite.url, asker.token, ['gateway/fast'], 'Two words, please. [[sim words=2]]');
    const page = await openAs(browser, suite, asker, '/dashboard/playground', { expectedErrors: CUT });
    await page.route(DELETE_PART, (route) => route.abort());
    const remove = page.getByRole('button', { name: 'Delete Two words, please.' });
    await remove.click();
    await page.getByRole('alert').getByText('This dialog couldn’t be loaded').waitFor();
    await bringBack(page, DELETE_PART, documentsOf(page));
    const reloaded = page.waitForEvent('load');
    await remove.click();
    await reloaded;
    await remove.click();
    await page.getByRole('dialog').getByText('Delete this session?').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('is fetched in advance when the browser is idle, and then opens offline', async () => {
    const page = await openAs(browser, suite, user, '/dashboard', {
      expectedErrors: CUT,
      fetchesAhead: true,
    });
    // Pages are fetched one after the other: once the next one comes, this one is complete.
    await page.waitForRequest(/assets\/statement-page-.*\.js/);
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    await page.getByText('The server can’t be reached').first().waitFor();
    await page.getByText(/^Reconnecting, data as of \d\d:\d\d$/).waitFor();
    await page.context().setOffline(false);
    await page.getByText(/^Reconnecting/).waitFor({ state: 'hidden' });
  });

  test('drafts are removed by the log-out, and possible secrets are never stored', async () => {
    const own = await suite.signUp('free');
    await suite.api(own.token, 'PATCH', `/api/keys/${own.keyId}`, { monthly_limit_usd: 5 });
    const page = await openAs(browser, suite, own, `/dashboard/keys/${own.keyId}?tab=alerts`);
    const stored = () => page.evaluate<string>('JSON.stringify(localStorage)');
    await page.getByRole('button', { name: /alert/i }).first().click();
    await page.getByText('Webhook', { exact: true }).click();
    await page.getByLabel('URL').fill('https://hooks.example.com/services/T0/secret');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Caps' }).click();
    await page.getByRole('button', { name: 'Edit name' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('half a name');
    expect(await stored()).toContain('half a name');
    expect(await stored()).not.toContain('hooks.example.com');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half a name');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login');
    expect(await stored()).not.toContain('half a name');
  });
});
