import { randomBytes, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { sha256 } from '../../src/lib/crypto.js';
import { documentIdOf } from '../graphql/support.js';
import { call, PASSWORD, signUp } from '../support/api.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { expectGoodLooks, hasFocus, holdAnswers, openAs, pageOf } from './dashboard.js';

/** Sign-up, log-in and log-out, in a real browser over the edge. */
describeInBrowser('the way into the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();

  const logIn = async (page: Page, email: string, password: string): Promise<void> => {
    await page.getByLabel('Email').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };

  /** The token behind `#` in the link of a mail. */
  const resetTokenOf = async (accountId: string): Promise<string> => {
    const token = randomBytes(32).toString('base64url');
    await suite.db.pool.query(
      `insert into password_resets (token_hash, account_id, expires_at)
       values ($1, $2, now() + interval '10 minutes')`,
      [sha256(token).toString('hex'), accountId],
    );
    return token;
  };

  /** Logs in to another account in another tab. A late answer of that tab may renew the old cookie. */
  const logInElsewhere = async (page: Page, accountId: string): Promise<Page> => {
    const other = await page.context().newPage();
    await other.goto(`/reset-password#${await resetTokenOf(accountId)}`);
    await other.getByRole('textbox', { name: 'New password' }).fill('another long password 77');
    await other.getByRole('button', { name: 'Set password' }).click();
    await other.waitForURL('**/dashboard');
    return other;
  };

  /** Goes to an address without a page load. */
  const goTo = (page: Page, address: string): Promise<unknown> =>
    page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);

  /** For tests without a sign-in, which share a page and begin with an empty form. */
  const keep = (path: '/login' | '/signup'): Promise<Page> => {
    const [former, submit] = path === '/login' ? ['/signup', 'Create account'] : ['/login', 'Log in'];
    return browser.keep(
      async () => {
        const page = await browser.open(suite.url);
        await page.goto(path);
        return page;
      },
      async (page) => {
        // The landing page has no router.
        if (new URL(page.url()).pathname === '/') return void (await page.goto(path));
        await goTo(page, former);
        await page.getByRole('button', { name: submit, exact: true }).waitFor();
        await goTo(page, path);
        await page.getByRole('button', { name: submit, exact: true }).waitFor({ state: 'detached' });
      },
    );
  };

  test('sign-up takes three fields and leads to the dashboard with a dollar of credit; its button can’t be pressed twice', async () => {
    const page = await browser.open(suite.url);
    await page.goto('/signup');
    const button = page.getByRole('button', { name: 'Create account' });
    await button.click();
    await hasFocus(page.getByLabel('Name'));
    await page.getByLabel('Name').fill('Ada');
    await button.click();
    await hasFocus(page.getByLabel('Email'));
    await page.getByLabel('Email').fill(`${randomUUID()}@example.com`);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    const { held, release } = await holdAnswers(page, '"viewer":{');
    await button.click();
    await held;
    expect(await button.isDisabled()).toBe(true);
    release();
    await page.waitForURL('**/dashboard');
    await page.getByRole('banner').getByText('$1.00').waitFor();
    // Only once the page is shown: otherwise a pending request may never be answered.
    await page.unrouteAll({ behavior: 'wait' });
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'pr_session', httpOnly: true, sameSite: 'Lax' });
  });

  test('the log-in leads back to the requested page, but never to another site, whatever the address says', async () => {
    const { user } = await signUp(suite.url);
    const page = await browser.open(suite.url);
    await page.goto('/dashboard?window=7');
    await page.waitForURL('**/login?next=*');
    await page.getByText('Log in to see this page.').waitFor();
    await logIn(page, user.email, PASSWORD);
    await page.waitForURL('**/dashboard?window=7');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // When signed in, the log-in page leads to the dashboard.
    await page.goto('/login');
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    const addressOf = (next: string): string => `/login?next=${encodeURIComponent(next)}`;
    for (const next of [
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/login',
      '/dashboardx',
      '/dashboard/..//evil.example',
    ]) {
      // By its address, like the redirect of a signed-in user.
      await goTo(page, addressOf(next));
      await page.waitForURL(`${suite.url}/dashboard`);
    }
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login');
    await page.getByRole('link', { name: 'Create an account' }).first().click();
    await page.getByRole('button', { name: 'Create account' }).waitFor();
    await goTo(page, addressOf('https://evil.example/dashboard'));
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await logIn(page, user.email, PASSWORD);
    await page.waitForURL(`${suite.url}/dashboard`);
  });

  test('a form shows errors at the fields before it is sent; a wrong password shows an error, and the typed text stays', async () => {
    const page = await keep('/signup');
    await page.getByText('gateway/embed').waitFor();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill('short12');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Must be an email address').waitFor();
    await page.getByText('Must have 8 to 128 characters').waitFor();
    expect(await page.getByLabel('Email').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logIn(page, 'nobody@example.com', 'not the password');
    await page.getByRole('alert').getByText('Email or password is wrong').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('nobody@example.com');
    await expectAccessible(page);
  });

  test('a forgotten password: without mail, the page says whom to ask, and a used link shows so', async () => {
    const page = await keep('/login');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page
      .getByText(
        'This installation doesn’t send email, so passwords can’t be reset. Ask its administrator for help.',
      )
      .waitFor();
    await expectAccessible(page);
    // An invalid token shows an error before anything is sent.
    await goTo(page, `/reset-password#${'x'.repeat(129)}`);
    await page.getByText('This link is no longer valid').waitFor();
    await goTo(page, '/login');
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await goTo(page, `/reset-password#${'x'.repeat(43)}`);
    await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('This link is no longer valid').waitFor();
    await page.getByRole('link', { name: 'Request a new link' }).waitFor();
    await expectAccessible(page);
  });

  test('every page is accessible and fits in both themes and widths; the name in its header links to the landing page', async () => {
    const page = await keep('/signup');
    const goToFirstPage = async (): Promise<void> => {
      await page.getByRole('banner').getByRole('link', { name: 'Inference gateway' }).click();
      await page.waitForURL(`${suite.url}/`);
    };
    await page.getByText('gateway/embed').waitFor();
    await expectGoodLooks(page, 'signup');
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await expectGoodLooks(page, 'login');
    await goToFirstPage();
    await page.goto('/signup');
    await goToFirstPage();
  });

  test.each([
    ['nobody', false],
    ['somebody else', true],
  ])('a new password leads into its account where %s was signed in', async (_who, isSignedIn) => {
    const { user } = await signUp(suite.url);
    const token = await resetTokenOf(user.id);
    const page = isSignedIn
      ? await pageOf(browser, suite, await signUp(suite.url))
      : await browser.open(suite.url);
    // Without the live connection, whose opening would refresh the page and replace an answer to another account.
    await page.routeWebSocket(/graphql/, () => undefined);
    await page.goto(`/reset-password#${token}`);
    await page.getByRole('textbox', { name: 'New password' }).fill('another long password 77');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText(user.email).waitFor();
  });

  test('after a log-in in another tab, this tab shows nothing of the former account', async () => {
    const [former, next] = [await suite.signUp('pro'), await suite.signUp('free')];
    const page = await openAs(browser, suite, former, '/dashboard/keys?create=true', {
      expectedErrors: /409/,
    });
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('secret plans');
    await page.getByRole('banner').getByText('$26.00').waitFor();
    // The former document's, until it is unloaded.
    await page.evaluate(`new MutationObserver(() => {
      const { textContent: header } = document.querySelector('header');
      if (header.includes('$1.00')) sessionStorage.setItem('mixed', 'yes');
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    await logInElsewhere(page, next.accountId);
    const balance = page.getByRole('banner').getByText('$1.00');
    await until(
      async () => {
        await page.evaluate('window.dispatchEvent(new Event("focus"))').catch(() => undefined);
        return balance.isVisible();
      },
      { what: 'the balance of the other account' },
    );
    await name.waitFor();
    expect(await name.inputValue()).toBe('');
    expect(await page.evaluate<string | null>('sessionStorage.getItem("mixed")')).toBeNull();
  });

  const balanceOf = async (accountId: string): Promise<string> => {
    const { rows } = await suite.db.pool.query<{ balance: string }>(
      'select balance from accounts where id = $1',
      [accountId],
    );
    return Number(rows[0]!.balance).toFixed(2);
  };

  test('a click in a tab whose account was replaced in another does nothing, and the tab reloads and shows why', async () => {
    const [former, next] = [await signUp(suite.url), await signUp(suite.url)];
    const page = await pageOf(browser, suite, former, { expectedErrors: /409/ });
    const messages: string[] = [];
    // Without the live connection, whose opening would refresh the page before the click.
    await page.routeWebSocket(/graphql/, (socket) => {
      socket.onMessage((message) => void messages.push(String(message)));
    });
    let downloads = 0;
    page.on('download', () => downloads++);
    // A pending answer would restore the former cookie.
    await page.goto('/dashboard/billing', { waitUntil: 'networkidle' });
    await page.getByRole('banner').getByText('$1.00').waitFor();
    const begun = await until(() => messages[0], { what: 'the socket to begin' });
    expect(JSON.parse(begun)).toEqual({ type: 'connection_init', payload: { accountId: former.user.id } });
    const other = await logInElsewhere(page, next.user.id);
    const [refused] = await Promise.all([
      page.waitForResponse((response) => response.status() === 409),
      page.getByRole('button', { name: 'Add $25' }).click(),
    ]);
    expect(refused.request().postData()).toContain(documentIdOf('mutation TopUp'));
    const note = page.getByRole('status').filter({ hasText: 'Nothing was done.' });
    await note.getByText(next.user.email).waitFor();
    expect([await balanceOf(former.user.id), await balanceOf(next.user.id)]).toEqual(['1.00', '1.00']);
    await expectAccessible(page);
    // From here on the tab acts for the account it shows, and the warning is gone.
    await page.getByRole('button', { name: 'Add $25' }).click();
    await page.getByText('Added $25.').waitFor();
    expect(await balanceOf(next.user.id)).toBe('26.00');
    await other.close();
    await page.reload({ waitUntil: 'networkidle' });
    const download = page.getByRole('link', { name: 'Export CSV' });
    await download.waitFor();
    expect(await note.count()).toBe(0);
    // A link can't send the account, so the page checks it before.
    await logInElsewhere(page, former.user.id);
    await download.click({ button: 'middle' });
    await note.getByText(former.user.email).waitFor();
    expect(downloads).toBe(0);
    await Promise.all([page.waitForEvent('download'), download.click()]);
    // The next account to log in doesn't see the warning.
    const third = await signUp(suite.url);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login');
    await logIn(page, third.user.email, PASSWORD);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await note.count()).toBe(0);
  });

  test('a logged-out tab can log in although another tab has logged in to another account', async () => {
    const { user } = await signUp(suite.url);
    const page = await browser.open(suite.url);
    await page.goto('/login');
    await logIn(page, user.email, PASSWORD);
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const [cookie] = await page.context().cookies();
    await call(suite.url, 'POST', '/api/auth/logout', { token: cookie!.value });
    await page.waitForURL('**/login?next=*');
    const other = await logInElsewhere(page, (await signUp(suite.url)).user.id);
    await other.close();
    await logIn(page, user.email, PASSWORD);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText(user.email).waitFor();
  });

  test('a failed log-out shows a warning, but not after the next log-in; a successful one ends the session, and going back leads to the log-in', async () => {
    const { user, token } = await signUp(suite.url);
    const page = await openAs(browser, suite, { token }, '/dashboard', {
      expectedErrors: /ERR_FAILED|Failed to load/,
    });
    const failToLogOut = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Account' }).waitFor();
      await page.route('**/graphql', (route) => route.abort());
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
      await page.getByText('You are still logged in.').waitFor();
    };
    await failToLogOut();
    expect(new URL(page.url()).pathname).toBe('/dashboard');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const cookies = await page.context().cookies();
    await call(suite.url, 'POST', '/api/auth/logout', { token: cookies[0]!.value });
    await page.waitForURL('**/login?next=*');
    await logIn(page, user.email, PASSWORD);
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.getByText('You are still logged in.').count()).toBe(0);

    await failToLogOut();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('button', { name: 'Log out again' }).click();
    await page.waitForURL('**/login');
    // A pending request may have restored the cookie, but its session has ended.
    for (const { name, value } of await page.context().cookies()) {
      const answer = await fetch(`${suite.url}/api/auth/me`, { headers: { cookie: `${name}=${value}` } });
      expect([name, answer.status]).toEqual(['pr_session', 401]);
    }
    await page.goto('/dashboard');
    await page.waitForURL('**/login?next=*');
  });

  test('works by keyboard alone', async () => {
    const { user } = await signUp(suite.url);
    const page = await browser.open(suite.url);
    await page.goto('/login');
    await page.getByText('gateway/embed').waitFor();
    const focused = (): Promise<string> =>
      page.evaluate<string>(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Create an account');
    await page.keyboard.press('Tab');
    await page.keyboard.type(user.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard');
    await hasFocus(page.getByRole('heading', { name: 'Overview' }));
  });

  describe('the theme', () => {
    /** The page's background colour in every frame from the first. */
    const WATCH = `
      window.grounds = [];
      const look = () => {
        if (document.body) window.grounds.push(getComputedStyle(document.documentElement).colorScheme);
        requestAnimationFrame(look);
      };
      look();`;
    const grounds = (page: Page): Promise<string[]> =>
      until(
        async () => {
          const seen = await page.evaluate<string[]>('[...new Set(window.grounds)]');
          return seen.length > 0 ? seen : undefined;
        },
        { what: 'the first frame' },
      );

    test('follows the system from the first frame; a chosen theme is kept, and shown without a flash of the other', async () => {
      const page = await browser.open(suite.url);
      await page.addInitScript(WATCH);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto('/login');
        await page.getByText('gateway/embed').waitFor();
        expect(await grounds(page)).toEqual([colorScheme]);
      }
      await page.getByRole('button', { name: 'Theme: system. Change to light' }).click();
      await page.getByRole('button', { name: 'Theme: light. Change to dark' }).click();
      await page.getByRole('button', { name: 'Theme: dark. Change to system' }).waitFor();
      for (const path of ['/login', '/signup', '/graphql/playground']) {
        await page.goto(path);
        await page.locator('h1').waitFor();
        expect(await grounds(page)).toEqual(['dark']);
      }
    });
  });
});
