import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { documentIdOf } from '../graphql/support.js';
import { call, PASSWORD, signUp } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { until } from '../support/until.js';
import { callsOf, expectGoodLooks, openAs, pageOf, questionsOnReload } from './dashboard.js';

const run = promisify(execFile);

/** From sign-up to the first call and the usage list. */
describeInBrowser('somebody new', () => {
  const browser = useBrowser();
  const suite = useProduct();

  const costOfOnlyCall = async (accountId: string): Promise<string> => {
    const { rows } = await suite.db.pool.query<{ cost: string }>(
      'select trim_scale(cost)::text as cost from usage_events where account_id = $1',
      [accountId],
    );
    expect(rows).toHaveLength(1);
    return `$${rows[0]!.cost}`;
  };

  test('creates a key by one click, runs the snippet unchanged, and sees the call arrive', async () => {
    const { token, user } = await signUp(suite.url);
    const page = await openAs(browser, suite, { token }, '/dashboard', { timezoneId: 'UTC' });
    await page.getByRole('heading', { name: 'Create an API key' }).waitFor();
    await page.getByText('You have $1.00 of credit on the free plan').waitFor();
    await page.getByRole('button', { name: 'Create my first key' }).click();
    const key = await page.getByRole('region', { name: 'API key' }).innerText();
    expect(key).toMatch(/^sk-pr-\w{46}$/);
    await page.getByText('Waiting for your first call').waitFor();

    // A reload would lose the key: the browser asks.
    expect(await questionsOnReload(page)).toEqual(['beforeunload']);

    const snippet = async (language: string): Promise<string> => {
      await page.getByRole('button', { name: language, exact: true }).click();
      const shown = await page.getByRole('region', { name: `Snippet for ${language}` }).innerText();
      expect(shown).toContain(`${suite.url}/v1`);
      expect(shown).toContain(key);
      return shown;
    };
    const answer = await run('sh', ['-c', await snippet('curl')]);
    expect(JSON.parse(answer.stdout)).toMatchObject({ model: 'gateway/fast' });
    await page.getByText('Your first call has arrived').waitFor();
    const arrived = await page.getByRole('status').filter({ hasText: 'arrived' }).innerText();
    expect(arrived).toContain(`for ${await costOfOnlyCall(user.id)}.`);
    expect(arrived).toMatch(/answered in \d+ ms/);
    await page.getByRole('heading', { name: 'Make your first call (done)' }).waitFor();
    await expectGoodLooks(page, 'first-run-arrived');

    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', await snippet('Node')]);
    expect(stdout).not.toBe('');
    expect(await snippet('Python')).toContain('from openai import OpenAI');

    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await page.getByRole('link', { name: 'Create another' }).count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toContain(key);
    await page.getByRole('button', { name: 'Show usage' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const chart = page.getByRole('figure');
    const words = chart.getByText(/^\$0\.00\d+, 2 requests, [\d,]+ tokens, 0 errors$/);
    // The second call may still be on its way; the chart is rendered again with it.
    await until(
      async () => {
        await chart.locator('.recharts-bar-rectangle path').first().hover();
        return words.isVisible();
      },
      { what: 'both calls in the chart' },
    );
    await page.getByRole('region', { name: 'Last calls' }).getByText('My first key').first().waitFor();
  });

  test('doesn’t lose the key by a click, sees a failed call as such, and goes on waiting', async () => {
    const page = await openAs(browser, suite, await signUp(suite.url), '/dashboard');
    await page.getByRole('button', { name: 'Create my first key' }).click();
    const secret = page.getByRole('region', { name: 'API key' });
    const key = await secret.innerText();

    // A click that leaves the page asks first. Leaving anyway shows how to create another key.
    const goTo = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
    await goTo('Billing');
    await page.getByText('You haven’t copied the key.').waitFor();
    expect(await secret.innerText()).toBe(key);
    await goTo('Billing');
    // The URL changes before the page does: turning back before loses nothing.
    await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
    await goTo('Overview');
    await page.getByText('You have a key.').waitFor();
    await page.getByRole('link', { name: 'Create another' }).click();
    await page.waitForURL('**/dashboard/keys?create=true');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await goTo('Overview');
    await page.getByText('You have a key.').waitFor();

    const client = new OpenAI({ baseURL: `${suite.url}/v1`, apiKey: key, maxRetries: 0 });
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'gateway/fast', messages: [{ role: 'user', content }] });
    await expect(ask('[[sim status=400]] Hi')).rejects.toMatchObject({ status: 400 });
    await page.getByText('A call arrived and failed with 400').waitFor();
    await ask('Say hello');
    await page.getByText('Your first call has arrived').waitFor();
  });

  test('can log out at once, and still sees the key when the session ends elsewhere, even after a refresh', async () => {
    const page = await openAs(browser, suite, await signUp(suite.url), '/dashboard');
    const secret = page.getByRole('region', { name: 'API key' });
    await page.getByRole('button', { name: 'Create my first key' }).click();
    await secret.waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login');
    await secret.waitFor({ state: 'detached' });

    const { user } = await signUp(suite.url);
    await page.getByLabel('Email').fill(user.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Create my first key' }).click();
    const key = await secret.innerText();
    const cookies = await page.context().cookies();
    await call(suite.url, 'POST', '/api/auth/logout', { token: cookies[0]!.value });
    const ended = page.getByText('Your session has ended. Copy the key first');
    await ended.waitFor();
    const refused = page.waitForResponse(
      async (response) =>
        (response.request().postData()?.includes(documentIdOf('query Overview')) ?? false) &&
        (await response.text()).includes('unauthorized'),
    );
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await refused;
    await page.getByText('of credit on the free plan').waitFor();
    expect([await ended.isVisible(), await secret.innerText()]).toEqual([true, key]);
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.waitForURL('**/login?next=*');
  });

  test('sees a call that was charged while the connection was lost', async () => {
    const page = await pageOf(browser, suite, await signUp(suite.url));
    let away = true;
    await page.routeWebSocket('**/graphql', async (socket) => {
      if (away) return void (await socket.close());
      socket.connectToServer();
    });
    await page.goto('/dashboard');
    await page.getByRole('button', { name: 'Create my first key' }).click();
    const key = await page.getByRole('region', { name: 'API key' }).innerText();
    const client = new OpenAI({ baseURL: `${suite.url}/v1`, apiKey: key, maxRetries: 0 });
    await client.embeddings.create({ model: 'gateway/embed', input: 'Hi' });
    await suite.settled();
    away = false;
    await page.getByText('Your first call has arrived').waitFor();
    await page.getByRole('heading', { name: 'Make your first call (done)' }).waitFor();
  });

  test('watches the usage list: new calls come on top, filtered, without moving the text being read', async () => {
    const user = await suite.signUp('free');
    const client = new OpenAI({ baseURL: `${suite.url}/v1`, apiKey: user.key, maxRetries: 0 });
    const ask = (model: 'chat' | 'embed') =>
      model === 'chat'
        ? client.chat.completions.create({
            model: 'gateway/fast',
            messages: [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=0]] Hi' }],
          })
        : client.embeddings.create({ model: 'gateway/embed', input: 'Hi' });
    for (let call = 0; call < 12; call++) await ask('chat');
    await suite.settled();
    const viewport = { width: 1280, height: 360 };
    const page = await openAs(browser, suite, user, '/dashboard/usage?model=gateway%2Ffast', { viewport });
    const rows = callsOf(page).locator('tbody tr');
    await rows.nth(11).waitFor();
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    const last = rows.last();
    const placeOf = async (): Promise<number> => (await last.boundingBox())!.y;
    const before = await placeOf();
    await ask('embed');
    await ask('chat');
    await rows.nth(12).waitFor();
    expect(Math.abs((await placeOf()) - before)).toBeLessThan(2);
    expect(await rows.first().innerText()).toContain('gateway/fast');
    expect(await rows.count()).toBe(13);
    // Nor while the details of a call are open beside the list.
    await last.click();
    const drawer = page.getByRole('dialog', { name: 'Call' });
    await drawer.locator('dl').waitFor();
    await ask('chat');
    await rows.nth(13).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await page.waitForURL((url) => !url.searchParams.has('call'));
    expect(Math.abs((await placeOf()) - before)).toBeLessThan(2);

    await page.getByLabel('Model').selectOption('gateway/embed');
    await page.waitForURL('**/dashboard/usage?model=gateway%2Fembed');
    await rows.filter({ hasText: 'gateway/embed' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().split('\r\n').slice(1, -1);
    expect(lines.map((line) => line.split(',')[1])).toEqual(['gateway/embed']);
  });

  test('misses no call that came before the connection opened, or while it was lost', async () => {
    const user = await suite.signUp('free');
    const page = await pageOf(browser, suite, user);
    const sockets: { close(): Promise<void> }[] = [];
    let away = true;
    await page.routeWebSocket('**/graphql', async (socket) => {
      if (away) return void (await socket.close());
      socket.connectToServer();
      sockets.push(socket);
    });
    const client = new OpenAI({ baseURL: `${suite.url}/v1`, apiKey: user.key, maxRetries: 0 });
    const callUnheard = async (): Promise<void> => {
      await client.embeddings.create({ model: 'gateway/embed', input: 'Hi' });
      await suite.settled();
    };
    const calls = callsOf(page).getByRole('row').filter({ hasText: 'gateway/embed' });
    await page.goto('/dashboard/usage');
    await page.getByText('Calls with your keys appear here').waitFor();
    await callUnheard();
    away = false;
    await calls.waitFor();
    await until(() => sockets.length > 0, { what: 'the socket to be there' });
    away = true;
    await Promise.all(sockets.splice(0).map((socket) => socket.close()));
    await callUnheard();
    away = false;
    await calls.nth(1).waitFor();
  });
});
