import { randomUUID } from 'node:crypto';
import type { Page, WebSocketRoute } from 'playwright-core';
import { documentIdOf } from '../graphql/support.js';
import { call, PASSWORD } from '../support/api.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, type PageOptions, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import { expectGoodLooks, goInside, pageOf } from './dashboard.js';

/** Sooner than polling would make up for a lost signal. */
const SOON = { timeout: 20_000 };

/** A message of a page over its socket. */
interface Subscribe {
  type: string;
  id: string;
  payload: { extensions: { documentId: string } };
}

/** Access of a test to the sockets of a page. */
interface Line {
  sockets: WebSocketRoute[];
  /** Ids of the documents that the page has requested. */
  subscribed: string[];
  /** Whether a message of the page is withheld from the server. */
  keeps(message: Subscribe, socket: WebSocketRoute): boolean;
  /** Whether the test forwards the server's messages itself. */
  holds(text: string, pass: () => void): boolean;
}

const lineOf = (changes: Partial<Line>): Line => ({
  sockets: [],
  subscribed: [],
  keeps: () => false,
  holds: () => false,
  ...changes,
});

/** Pages show current data, and show when they can't be current. */
describeInBrowser('what the dashboard shows', () => {
  const browser = useBrowser();
  const suite = useProduct();

  const balance = (page: Page, amount: string, within?: typeof SOON) =>
    page.getByRole('banner').getByText(`$${amount}`).waitFor(within);
  const noteOf = (page: Page) => page.getByRole('banner').getByText(/^Reconnecting, data as of \d\d:\d\d$/);

  let user: StackUser;
  let dollars = 1;
  beforeAll(async () => {
    user = await suite.signUp('free');
  });
  /** Adds ten dollars to the account without the page. */
  const topUp = async (): Promise<void> => {
    await suite.api(user.token, 'POST', '/api/billing/topup', { amount_usd: 10 });
    dollars += 10;
  };
  const newBalance = (page: Page, within?: typeof SOON) => balance(page, `${dollars}.00`, within);
  const makeKey = async (): Promise<string> => {
    const made = await suite.api<{ api_key: { id: string } }>(user.token, 'POST', '/api/keys', {
      name: 'of this test',
    });
    return made.api_key.id;
  };

  /** Comes back to the page, which refreshes at most once a second. */
  const comeBackUntil = (page: Page, isTrue: () => Promise<boolean>): Promise<unknown> =>
    until(
      async () => {
        await page.evaluate('window.dispatchEvent(new Event("focus"))');
        return isTrue();
      },
      { what: 'what comes of it' },
    );

  let line: Line;
  const openFirst = async (path: string, options: PageOptions = {}): Promise<Page> => {
    const page = await pageOf(browser, suite, user, options);
    await page.routeWebSocket('**/graphql', (socket) => {
      const server = socket.connectToServer();
      const { sockets, subscribed, keeps, holds } = line;
      sockets.push(socket);
      socket.onMessage((text) => {
        const message = JSON.parse(String(text)) as Subscribe;
        if (message.type === 'subscribe') subscribed.push(message.payload.extensions.documentId);
        if (!keeps(message, socket)) server.send(text);
      });
      server.onMessage((text) => {
        const pass = (): void => socket.send(text);
        if (!holds(String(text), pass)) pass();
      });
    });
    await page.goto(path);
    return page;
  };
  /** For tests that can share a page. */
  const open = (path: string, options: Pick<PageOptions, 'expectedErrors'> = {}): Promise<Page> => {
    line = lineOf({});
    return browser.keep(
      () => openFirst(path, options),
      (page) => goInside(page, path),
      options,
    );
  };
  /** For tests of the sockets: loads the page, whose next socket is the first one. */
  const load = async (path: string, changes: Partial<Line> = {}): Promise<{ page: Page } & Line> => {
    line = lineOf(changes);
    const page = await browser.keep(
      () => openFirst(path),
      async (former) => void (await former.goto(path)),
    );
    return { page, ...line };
  };

  test('follows a top-up and a key changed elsewhere by itself', async () => {
    const id = await makeKey();
    const page = await open('/dashboard/keys');
    await newBalance(page);
    await page.getByText('of this test').first().waitFor();
    await topUp();
    await newBalance(page, SOON);
    await suite.api(user.token, 'PATCH', `/api/keys/${id}`, { name: 'renamed elsewhere' });
    await page.getByText('renamed elsewhere').waitFor(SOON);
  });

  test('follows changes between its first answers and its subscriptions', async () => {
    let isHeld = true;
    const held: (() => void)[] = [];
    const { page } = await load('/dashboard/keys', {
      // The page refreshes three seconds after it has connected, which must be after the change.
      holds(text, pass) {
        if (!isHeld || !text.includes('"connection_ack"')) return false;
        held.push(pass);
        return true;
      },
    });
    await newBalance(page);
    await until(() => held.length > 0, { what: 'the page to connect' });
    await topUp();
    isHeld = false;
    for (const pass of held.splice(0)) pass();
    await newBalance(page);
  });

  test('stays, with typed text, when a refresh is refused', async () => {
    const page = await open(`/dashboard/keys/${await makeKey()}?tab=caps`, { expectedErrors: /503/ });
    await page.getByRole('button', { name: 'Edit daily cap' }).click();
    const cap = page.getByRole('textbox', { name: 'Daily cap' });
    await cap.fill('7');
    const field = await cap.elementHandle();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: JSON.stringify({
          errors: [
            {
              message: 'The service is temporarily unavailable. Try again.',
              extensions: { code: 'service_unavailable' },
            },
          ],
        }),
      }),
    );
    const refused = page.getByText('The service is temporarily unavailable.').first();
    await comeBackUntil(page, () => refused.isVisible());
    // The same element, still focused: it wasn't removed and added again.
    expect(
      await field!.evaluate((one) => (one as { matches(selector: string): boolean }).matches(':focus')),
    ).toBe(true);
    expect(await cap.inputValue()).toBe('7');
    // The connection is open, so the balance itself shows how old it is.
    const old = page.getByRole('banner').getByText(/^Balance as of \d\d:\d\d$/);
    await old.waitFor();
    await expectGoodLooks(page, 'balance-as-of');
    await page.unrouteAll({ behavior: 'wait' });
    await comeBackUntil(page, async () => (await old.count()) === 0);
    // Otherwise it would stay as a draft.
    await cap.press('Escape');
  });

  test('doesn’t bring back deleted data when a refresh is refused', async () => {
    const id = await makeKey();
    const page = await open(`/dashboard/keys/${id}`, { expectedErrors: /503/ });
    await page.getByRole('heading', { level: 1, name: 'of this test' }).waitFor();
    await suite.api(user.token, 'DELETE', `/api/keys/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Key not found' }).waitFor(SOON);
    await page.route('**/graphql', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: JSON.stringify({
          errors: [{ message: 'Out of order.', extensions: { code: 'service_unavailable' } }],
        }),
      }),
    );
    await comeBackUntil(page, () => page.getByText('Out of order.').first().isVisible());
    expect(await page.getByRole('heading', { level: 1, name: 'of this test' }).count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    // Restores the page for the next test.
    const notFound = page.getByRole('heading', { level: 1, name: 'Key not found' });
    await comeBackUntil(page, () => notFound.isVisible());
  });

  test('is refreshed when a day begins in UTC, even if nobody comes back to the page', async () => {
    const own = await suite.signUp('free');
    await suite.api(own.token, 'PATCH', `/api/keys/${own.keyId}`, { daily_limit_usd: '0.000001' });
    expect((await postChat(suite.url, own.key)).status).toBe(200);
    await suite.settled();
    const page = await pageOf(browser, suite, own);
    // Without its socket, the page gets no events.
    await page.routeWebSocket(/graphql/, () => undefined);
    await page.clock.install({ time: new Date().setUTCHours(23, 58, 30, 0) });
    await page.goto(`/dashboard/keys/${own.keyId}`);
    await page.getByText('The daily cap rejects calls with 402.').waitFor();
    await balance(page, '1.00');
    // Also for the server, the day begins.
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/"spendTodayUsd":"[^"]*"/g, '"spendTodayUsd":"0"');
      await route.fulfill({ response, body });
    });
    await page.clock.fastForward('02:00');
    await page.getByText('Calls with this key are accepted.').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('doesn’t wait forever for a server that hangs, and adds credit only once', async () => {
    const own = await suite.signUp('free');
    const page = await pageOf(browser, suite, own);
    // Without the live connection, which would refresh the page by itself once it opens.
    await page.routeWebSocket(/graphql/, () => undefined);
    await page.goto('/dashboard/billing');
    await page.getByText('Starter credit').waitFor();
    await page.clock.install();
    const isDone = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes(documentIdOf('mutation TopUp'))) return;
      // The server executes the request, but its answer doesn't come.
      await route.fetch();
      isDone.resolve();
    });
    const add = page.getByRole('button', { name: 'Add $25' });
    const failed = page.getByRole('alert').getByText('The server didn’t answer within 30 seconds.');
    await add.click();
    await isDone.promise;
    await page.clock.fastForward(30_000);
    await failed.filter({ hasText: 'Your change may have been made all the same' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await add.click();
    await page.getByText('Added $25. New balance: $26.00.').waitFor();

    // The session may be checked again after the change, and no page is shown before.
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes(documentIdOf('query Viewer')) ? route.fallback() : undefined,
    );
    const asked = page.waitForRequest(
      (request) => request.postData()?.includes(documentIdOf('query UsageLog')) ?? false,
    );
    await goInside(page, '/dashboard/usage');
    await asked;
    await page.clock.fastForward(30_000);
    await failed.filter({ hasText: 'Check your connection and try again.' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // The list and its filters are refreshed.
    await page.getByText('No calls yet.').waitFor();
    await failed.waitFor({ state: 'detached' });
  });

  test.each([
    ['keys', 'API key'],
    ['prompts', 'Prompt'],
    ['widgets', 'Widget'],
  ])('one of %s that can’t be read has a title all the same', async (place, title) => {
    const page = await open('/dashboard/models');
    const id = randomUUID();
    await page.route('**/graphql', (route) => {
      if (!route.request().postData()?.includes(id)) return route.fallback();
      const error = { message: 'Something went wrong.', extensions: { code: 'internal_error' } };
      return route.fulfill({ json: { data: { viewer: null }, errors: [error] } });
    });
    await goInside(page, `/dashboard/${place}/${id}`);
    await page.getByRole('alert').getByText('Something went wrong.').waitFor();
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    await expectAccessible(page);
    expect(await page.title()).toBe(`${title} · Inference gateway`);
  });

  test('shows its age while the connection is lost, and is refreshed when somebody comes back', async () => {
    let isAway = false;
    const { page, sockets } = await load('/dashboard/keys', {
      keeps({ type }, socket) {
        if (isAway && type === 'connection_init') void socket.close();
        return isAway;
      },
    });
    await newBalance(page);
    await until(() => sockets.length > 0, { what: 'the page to connect' });
    const note = noteOf(page);
    expect(await note.count()).toBe(0);
    isAway = true;
    await Promise.all(sockets.map((socket) => socket.close()));
    await note.waitFor();
    await expectGoodLooks(page, 'reconnecting');
    await topUp();
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await newBalance(page);
    isAway = false;
    await note.waitFor({ state: 'hidden' });
  });

  test('starts fresh with a new session: a lost connection of the ended one doesn’t count', async () => {
    const user = await suite.signUp('free');
    const { email } = await suite.api<{ email: string }>(user.token, 'GET', '/api/auth/me');
    const page = await pageOf(browser, suite, user, { expectedErrors: /WebSocket/ });
    let isOver = false;
    await page.routeWebSocket('**/graphql', (socket) => {
      // The connection of the next session comes late.
      if (!isOver) socket.connectToServer();
    });
    await page.clock.install();
    await page.goto('/dashboard/keys');
    await balance(page, '1.00');
    await page.clock.runFor(5_000);
    isOver = true;
    await call(suite.url, 'POST', '/api/auth/logout', { token: user.token });
    await page.waitForURL('**/login?next=*');
    await page.clock.runFor(5_000);
    await page.getByLabel('Email').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await balance(page, '1.00');
    expect(await noteOf(page).count()).toBe(0);
  });

  test.each([1011, 4429])('is live again after a close with %d', async (code) => {
    let isAway = false;
    const { page, sockets, subscribed } = await load('/dashboard/keys', {
      keeps({ type }, socket) {
        if (isAway && type === 'connection_init') void socket.close({ code });
        return isAway;
      },
    });
    await until(() => subscribed.length > 0, { what: 'the page to subscribe' });
    isAway = true;
    await sockets[0]!.close({ code });
    await noteOf(page).waitFor();
    await until(() => sockets.length > 2, { what: 'the page to try again' });
    const first = new Set(subscribed.splice(0));
    isAway = false;
    await noteOf(page).waitFor({ state: 'hidden' });
    await until(() => subscribed.length === first.size, { what: 'the page to subscribe again' });
    await topUp();
    await newBalance(page, SOON);
  });

  test('is live again after a subscription was refused for a while, but not for good', async () => {
    const account = documentIdOf('subscription AccountChanged');
    const others = () => [...new Set(line.subscribed)].filter((documentId) => documentId !== account);
    let isBusy = true;
    const { page, subscribed } = await load('/dashboard/keys', {
      keeps({ type, id, payload }, socket) {
        if (!isBusy || type !== 'subscribe') return false;
        const refuse = (code: string) => [{ message: 'Not now.', extensions: { code } }];
        const say = (message: object) => socket.send(JSON.stringify({ id, ...message }));
        const { documentId } = payload.extensions;
        if (documentId === account) say({ type: 'error', payload: refuse('service_unavailable') });
        else if (documentId === others()[0]) say({ type: 'error', payload: refuse('forbidden') });
        else {
          say({ type: 'next', payload: { errors: refuse('rate_limit_exceeded') } });
          say({ type: 'complete' });
        }
        return true;
      },
    });
    await noteOf(page).waitFor();
    const times = (documentId?: string) => subscribed.filter((one) => one === documentId).length;
    await until(() => times(account) > 2 && times(others()[1]) > 2, { what: 'the page to subscribe again' });
    expect(times(others()[0])).toBe(1);
    await topUp();
    isBusy = false;
    await newBalance(page);
    await noteOf(page).waitFor({ state: 'hidden' });
    await topUp();
    await newBalance(page, SOON);
  });
});
