import type { Frame, Page } from 'playwright-core';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { call } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import {
  type CustomerSite,
  chatIn,
  clickBubble,
  startCustomerSite,
  tagOf,
  takesMessages,
  write,
} from '../widgets/site.js';
import type { Widget } from '../widgets/support.js';
import {
  callsOf,
  expectGoodLooks,
  goInside,
  hasFocus,
  holdAnswers,
  keepAs,
  openAs,
  pageOf,
} from './dashboard.js';

/** Widget management by the owner, and its effect on visitors. */
describeInBrowser('the widgets of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  /** For tests without calls. Each begins without widgets. */
  let user: StackUser;
  let site: CustomerSite;
  beforeAll(async () => {
    site = await startCustomerSite();
    user = await suite.signUp('team');
  });
  afterAll(() => site?.close());
  beforeEach(async () => {
    for (const { id } of await widgetsOf()) await suite.api(user.token, 'DELETE', `/api/widgets/${id}`);
  });

  const widgetsOf = async ({ token } = user): Promise<Widget[]> =>
    (await call<Widget[]>(suite.url, 'GET', '/api/widgets', { token })).body;
  const preview = async (page: Page): Promise<Frame> => {
    const frame = await (await page.getByTitle('Preview of the chat').elementHandle())!.contentFrame();
    await frame!.locator('.turn').first().waitFor();
    return frame!;
  };

  /** A page of another site. */
  const openSite = (): Promise<Page> =>
    browser.open(site.url, { others: [suite.url], expectedErrors: /status of 404/ });
  /** Opens a widget's chat on the other site. */
  const embedded = async (page: Page, publicKey: string): Promise<Frame> => {
    await page.goto(site.page(`/${publicKey}`, tagOf(suite.url, publicKey)));
    await clickBubble(page);
    return chatIn(page);
  };

  test('a widget is created with a live preview, tried, embedded in another site, and its key rotated', async () => {
    const owner = await suite.signUp('team');
    const page = await keepAs(browser, suite, owner, '/dashboard/widgets');
    await page.getByText('No widgets yet.').waitFor();
    await page.getByRole('button', { name: 'Create widget' }).first().click();
    await page.waitForURL('**/dashboard/widgets/new');
    const before = await preview(page);
    await page.getByRole('button', { name: 'Create widget' }).click();
    const fault = page.getByText('Must not be empty');
    await fault.waitFor();
    await hasFocus(page.getByLabel('Name'));
    await page.getByLabel('Name').fill('Shop');
    await fault.waitFor({ state: 'detached' });
    await page.getByLabel('Greeting').fill('Welcome to the **shop**');
    await before.getByText('Welcome to the shop').waitFor();
    await before.locator('#box').fill('Hello?');
    await before.locator('#box').press('Enter');
    await before.locator('.turn', { hasText: 'This is a preview' }).waitFor();
    await expectGoodLooks(page, 'widget-new');
    await page.getByRole('button', { name: 'Create widget' }).click();
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    const [widget] = await widgetsOf(owner);
    expect(widget).toMatchObject({
      greeting_message: 'Welcome to the **shop**',
      visitor_daily_limit: 40,
      verified_history: true,
    });
    await page.getByText(`data-pr-widget="${widget!.public_key}"`).waitFor();
    const chat = await preview(page);
    await chat.locator('#box').fill('Do you ship?');
    await chat.locator('#box').press('Enter');
    await until(async () => (await widgetsOf(owner))[0]!.messages_today === 1, {
      what: 'the message to count',
    });
    await page.getByText('of 200 messages').waitFor();
    await until(async () => (await page.getByText('0 in, 0 out').count()) === 0, {
      what: 'the usage to be shown',
    });
    await expectGoodLooks(page, 'widget');
    const visited = await openSite();
    const shop = await embedded(visited, widget!.public_key);
    await write(shop, 'And to Norway?');
    await shop.locator('.turn.assistant').nth(1).waitFor();
    await takesMessages(shop);
    await until(async () => (await widgetsOf(owner))[0]!.messages_today === 2, {
      what: 'the second message',
    });
    await page.getByRole('row', { name: /localhost/ }).waitFor();
    const row = (await page.getByRole('row', { name: /localhost/ }).textContent())!;
    expect(row).toMatch(/^localhost1.*\$0\.\d*[1-9]/);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const [rotated] = await widgetsOf(owner);
    expect(rotated!.public_key).not.toBe(widget!.public_key);
    await page.getByText(`data-pr-widget="${rotated!.public_key}"`).waitFor();
    await write(shop, 'Still there?');
    await shop.getByRole('alert').getByText('This chat isn’t available any more.').waitFor();
    const renewed = await embedded(visited, rotated!.public_key);
    await write(renewed, 'And you?');
    await until(async () => (await widgetsOf(owner))[0]!.messages_today === 3, {
      what: 'an answer by the new key',
    });
    await page.getByRole('link', { name: '← Widgets' }).click();
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    await expectGoodLooks(page, 'widgets');
    await page.getByRole('row', { name: /3 of 200/ }).waitFor();
    await takesMessages(renewed);
    await write(renewed, 'And now?');
    // Sooner than polling would make up for a lost signal.
    await page.getByRole('row', { name: /4 of 200/ }).waitFor({ timeout: 20_000 });
  });

  test('the address keeps the window of its usage, and a call in the usage list links to its widget', async () => {
    const make = async (name: string): Promise<string> =>
      (
        await call<Widget>(suite.url, 'POST', '/api/widgets', {
          token: user.token,
          body: { name, model_public_name: 'gateway/fast' },
        })
      ).body.id;
    const [help, shop] = [await make('Help'), await make('Shop')];
    await flushWhenFree(
      suite.db.pool,
      [help, shop].map((widgetId) => recordOf(user, { keyId: null, widgetId })),
    );
    const page = await keepAs(browser, suite, user, `/dashboard/widgets/${shop}`);
    await page.getByRole('button', { name: '30 days' }).click();
    await page.waitForURL(`**/dashboard/widgets/${shop}?window=30`);
    await goInside(page, `/dashboard/widgets/${shop}?window=30`);
    await page.getByRole('button', { name: '30 days', pressed: true }).waitFor();

    await goInside(page, '/dashboard/usage');
    await callsOf(page).getByRole('link', { name: 'Help' }).waitFor();
    const row = callsOf(page).getByRole('row').filter({ hasText: 'Shop' });
    await row.click({ position: { x: 2, y: 2 } });
    await page.getByRole('dialog', { name: 'Call' }).getByRole('link', { name: 'Shop' }).waitFor();
    await page.getByRole('dialog', { name: 'Call' }).getByText('widget chat').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('link', { name: 'Shop' }).click();
    await page.waitForURL(`**/dashboard/widgets/${shop}`);
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Delete widget' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete widget' }).click();
    await page.waitForURL('**/dashboard/widgets');
    await goInside(page, '/dashboard/usage');
    await callsOf(page).getByRole('cell', { name: 'deleted widget' }).waitFor();
    expect(await callsOf(page).getByRole('link', { name: 'Shop' }).count()).toBe(0);
  });

  test('another try in the preview ends the previous one, and usage that can’t be loaded offers another try', async () => {
    const owner = await suite.signUp('team');
    const made = await call<Widget>(suite.url, 'POST', '/api/widgets', {
      token: owner.token,
      body: { name: 'Slow', model_public_name: 'gateway/fast' },
    });
    const page = await pageOf(browser, suite, owner, { expectedErrors: /503/ });
    // Without the live connection, which would refresh the page by itself once it opens.
    await page.routeWebSocket(/graphql/, () => undefined);
    // Twenty seconds of silence, fifty times faster.
    await page.addInitScript(
      'const wait = setTimeout; window.setTimeout = (run, ms) => wait(run, ms === 20_000 ? 400 : ms);',
    );
    let isRefused = true;
    const refusal = {
      status: 503,
      contentType: 'application/json',
      body: '{"errors":[{"message":"Try later.","extensions":{"code":"service_unavailable"}}]}',
    };
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const isUsage = isRefused && (await response.text()).includes('"widgetUsage"');
      await route.fulfill(isUsage ? refusal : { response });
    });
    await page.goto(`/dashboard/widgets/${made.body.id}`);
    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByText('Try later.').waitFor();
    expect(await usage.getByText('Tokens').count()).toBe(0);
    // The page tries again by itself.
    isRefused = false;
    await usage.getByText('0 in, 0 out').waitFor();

    const chat = await preview(page);
    await write(chat, '[[sim stall_after=1]] Are you there?');
    await chat.getByRole('alert').getByText('No answer has come for a while.').waitFor();
    const ended = page.waitForEvent('requestfailed', {
      predicate: (request) => request.url().endsWith('/api/widget/chat'),
    });
    await chat.getByRole('button', { name: 'Try again' }).click();
    await ended;
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('refusals of the server are shown at their fields, and a deleted widget disappears', async () => {
    const made = await call<Widget>(suite.url, 'POST', '/api/widgets', {
      token: user.token,
      body: { name: 'Old', model_public_name: 'gateway/fast' },
    });
    const page = await keepAs(browser, suite, user, `/dashboard/widgets/${made.body.id}`, {
      expectedErrors: /409/,
    });
    await page.getByText('No domains: any site can show this widget.').waitFor();
    const domains = page.getByRole('textbox', { name: 'Allowed domains' });
    // With an invalid entry, nothing is added and nothing lost: the others may be words of a text.
    for (const [entered, wrong] of [
      ['shop.example, no-host! and foo', 'no-host!, and, foo'],
      ['shop.example and foo', 'and, foo'],
      ['1. shop.example', '1.'],
      ['shop.example, and, second.example', 'and'],
    ] as const) {
      await domains.fill(entered);
      await domains.press('Enter');
      await page.getByText(`Not a host name such as example.com or *.example.com: ${wrong}`).waitFor();
      expect(await domains.inputValue()).toBe(entered);
      expect(await page.getByText('No domains: any site can show this widget.').count()).toBe(1);
    }
    await domains.fill('https://shop.example:8443/path, *.cdn.example localhost');
    await domains.press('Enter');
    expect(await domains.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Remove localhost' }).click();
    await page.getByRole('button', { name: 'Remove *.cdn.example' }).click();
    // Saved even without pressing Enter.
    await domains.fill('second.example');
    await page.getByLabel('Messages per minute').fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Must be a whole number from 1 to 1000').waitFor();
    await hasFocus(page.getByLabel('Messages per minute'));
    await page.getByLabel('Messages per minute').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const [saved] = await widgetsOf();
    expect(saved!.allowed_domains).toEqual(['shop.example', 'second.example']);
    await page.getByText('To chat here, allow').waitFor();

    // Another tab: fields changed in both need a choice, all others are merged.
    const elsewhere = { name: 'Named there', greeting_message: 'Greeted there' };
    await page.getByLabel('Name').fill('Named here');
    await page.getByLabel('Text in the empty input box').fill('Ask us');
    await suite.api(user.token, 'PATCH', `/api/widgets/${made.body.id}`, elsewhere);
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText('The widget was changed elsewhere after you began. Changed there and here: name.')
      .waitFor();
    expect((await widgetsOf())[0]).toMatchObject({ ...elsewhere, placeholder: saved!.placeholder });
    await page.getByRole('button', { name: 'Discard mine' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Named there');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await widgetsOf())[0]).toMatchObject({ ...elsewhere, placeholder: 'Ask us' });
    await page.getByRole('button', { name: 'Delete widget' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete widget' }).click();
    await page.waitForURL('**/dashboard/widgets');
    expect(await widgetsOf()).toEqual([]);
  });

  test('a widget isn’t saved without a domain that needs correction, and doesn’t lose its domains to a held key', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/widgets/new');
    const domains = page.getByRole('textbox', { name: 'Allowed domains' });
    const create = page.getByRole('button', { name: 'Create widget' });
    await page.getByLabel('Name').fill('Shop');
    await domains.fill('shop!');
    await create.click();
    await page.getByText('Not a host name such as example.com or *.example.com: shop!').waitFor();
    await hasFocus(domains);
    await domains.fill('a.example b.example c.example');
    await domains.press('Enter');
    const chips = page.getByRole('list', { name: 'Domains' }).getByRole('listitem');
    await chips.nth(2).waitFor();
    for (let times = 0; times < 4; times++) await page.keyboard.down('Backspace');
    await page.keyboard.up('Backspace');
    await chips.nth(2).waitFor({ state: 'detached' });
    await create.click();
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    expect((await widgetsOf()).map((widget) => widget.allowed_domains)).toEqual([['a.example', 'b.example']]);
  });

  test('set values stay chosen, even if the plan no longer includes them or a hundred prompts are newer', async () => {
    const owner = await suite.signUp('team');
    const prompt = { name: 'First prompt', content: 'Be brief.' };
    const { id: promptId } = await suite.api<{ id: string }>(owner.token, 'POST', '/api/prompts', prompt);
    const input = {
      name: 'Moved',
      model_public_name: 'gateway/qwen-pro',
      prompt_id: promptId,
      monthly_limit_usd: '5',
      fallback_model_public_name: 'gateway/deepseek-code',
    };
    const made = await suite.api<Widget>(owner.token, 'POST', '/api/widgets', input);
    await suite.db.pool.query(
      `with more as (
         insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
         select gen_random_uuid(), $1, 'p' || n, 'p', 1, 1, 1, now(), now() from generate_series(1, 100) n returning id)
       insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
       select gen_random_uuid(), id, 1, 'x', '[]', now() from more`,
      [owner.accountId],
    );
    await suite.db.pool.query(`update accounts set plan_id = 'free' where id = $1`, [owner.accountId]);
    const page = await openAs(browser, suite, owner, `/dashboard/widgets/${made.id}`);
    const shown = (label: string): Promise<string> =>
      page.getByLabel(label, { exact: true }).locator('option:checked').innerText();
    expect(await shown('Model')).toBe('gateway/qwen-pro, not in your plan');
    expect(await shown('Instructions')).toBe('First prompt');
    expect(await shown('Once it is spent')).toBe('Answer with gateway/deepseek-code, not in your plan');
    await page.getByLabel('Model', { exact: true }).selectOption('gateway/fast');
    await page.getByLabel('Once it is spent').selectOption('Stop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await widgetsOf(owner))[0]).toMatchObject({
      model_public_name: 'gateway/fast',
      prompt_id: promptId,
      fallback_model_public_name: null,
    });
  });

  test('text typed while a widget is created or saved stays as an unsaved change', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/widgets/new');
    const prompt = page.getByLabel('System prompt');
    await page.getByLabel('Name').fill('Typed');
    await prompt.fill('Be brief.');
    const made = await holdAnswers(page, '"createWidget"');
    await page.getByRole('button', { name: 'Create widget' }).click();
    await made.held;
    await prompt.press('Control+End');
    await prompt.pressSequentially(' And kind.');
    made.release();
    await page.getByRole('heading', { name: 'Typed', level: 1 }).waitFor();
    expect(await prompt.inputValue()).toBe('Be brief. And kind.');
    expect((await widgetsOf())[0]!.system_prompt).toBe('Be brief.');

    const saved = await holdAnswers(page, '"updateWidget"');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved.held;
    await prompt.press('Control+End');
    await prompt.pressSequentially(' And right.');
    await page.getByLabel('Name').fill('Typed twice');
    saved.release();
    // The button waits for the answer.
    await page.getByRole('button', { name: 'Save' }).click({ trial: true });
    expect(await prompt.inputValue()).toBe('Be brief. And kind. And right.');
    expect(await page.getByText('Saved.').count()).toBe(0);
    expect((await widgetsOf())[0]).toMatchObject({ name: 'Typed', system_prompt: 'Be brief. And kind.' });

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await widgetsOf())[0]!.system_prompt).toBe('Be brief. And kind. And right.');
    await prompt.fill('Something else');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(await prompt.inputValue()).toBe('Be brief. And kind. And right.');
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed twice');
    await page.unrouteAll({ behavior: 'wait' });
  });
});
