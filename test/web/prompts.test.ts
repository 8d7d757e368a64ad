import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { flushWhenFree, recordOf } from '../metering/support.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { postChat } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import {
  answerWith,
  expectGoodLooks,
  goInside,
  type HeldAnswers,
  hasFocus,
  holdAnswers,
  keepAs,
  pageOf,
} from './dashboard.js';

interface Prompt {
  id: string;
  name: string;
  description: string | null;
  active_version: { id: string; version: number };
  version_count: number;
}

/** From the first prompt to comparing, rendering and rolling back versions. */
describeInBrowser('the prompts of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('team');
  });
  /** Each test begins without prompts. */
  beforeEach(async () => {
    const former = await suite.api<{ id: string }[]>(user.token, 'GET', '/api/prompts');
    for (const { id } of former) await suite.api(user.token, 'DELETE', `/api/prompts/${id}`);
  });

  /** A page of the dashboard, for tests that can share one. */
  const keep = (path: string): Promise<Page> => keepAs(browser, suite, user, path);

  const text = (page: Page) => page.getByLabel('Prompt text');
  const create = (content: string): Promise<Prompt> =>
    suite.api<Prompt>(user.token, 'POST', '/api/prompts', { name: 'Greeting', content });
  const addVersion = (id: string, content: string): Promise<{ id: string }> =>
    suite.api(user.token, 'POST', `/api/prompts/${id}/versions`, { content });
  const promptOf = (id: string): Promise<Prompt> => suite.api(user.token, 'GET', `/api/prompts/${id}`);
  /** Creates a prompt on its page, and holds back the answer. */
  const createHeld = async (name: string): Promise<{ page: Page; release: () => void }> => {
    const page = await keep('/dashboard/prompts/new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await text(page).fill('First text.');
    const { held, release } = await holdAnswers(page, '"createPrompt"');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await held;
    return { page, release };
  };
  /** Saves a second version, and holds back later queries. */
  const saveUnread = async (page: Page): Promise<HeldAnswers> => {
    await text(page).fill('Second text.');
    const reads = await holdAnswers(page, '"viewer"');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    return reads;
  };

  test('a prompt is created, changed, compared, activated and rolled back', async () => {
    const page = await keep('/dashboard/prompts');
    await page.getByText('No prompts yet.').waitFor();
    await expectGoodLooks(page, 'prompts-empty');
    await page.getByRole('link', { name: 'Create prompt' }).click();
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('Must not be empty').first().waitFor();
    await hasFocus(page.getByLabel('Name', { exact: true }));
    await page.getByLabel('Name', { exact: true }).fill('Support reply');
    await text(page).fill('Write to {{ customer }} about {{ topic }}.');
    await page.getByRole('button', { name: 'Declare topic' }).click();
    await page.getByLabel('Default of topic').fill('the weather');
    await page.getByLabel('Temperature').fill('3');
    await page.getByLabel('Max tokens').fill('many');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('Must be 0 to 2').waitFor();
    await page.getByText('Must be a whole number from 1 to 1000000').waitFor();
    await hasFocus(page.getByLabel('Temperature'));
    await page.getByLabel('Temperature').fill('0.3');
    await page.getByLabel('Max tokens').fill('');
    await expectGoodLooks(page, 'prompts-create');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByRole('heading', { name: 'Support reply' }).waitFor();
    await page.getByText('support-reply, version 1 of 1 is active').waitFor();
    const marks = page.locator('mark');
    expect(await marks.allInnerTexts()).toEqual(['{{ customer }}', '{{ topic }}']);
    // Only the undeclared variable is marked.
    expect(await page.locator('mark[data-undeclared]').allInnerTexts()).toEqual(['{{ customer }}']);

    await text(page).fill('To {{ customer }} and {{ first-name }}.');
    await page.getByText('{{ first-name }} isn’t a variable and stays as it is.').waitFor();
    // A new version isn't active by itself.
    await text(page).fill('Write a short letter to {{ customer }} about {{ topic }}.');
    await page.getByLabel('Notes').fill('Shorter');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    // Its button is done: the next Tab leads to the next step.
    await hasFocus(
      page.getByRole('status').filter({ hasText: 'Version 2 is saved. Version 1 stays active.' }),
    );
    await expectGoodLooks(page, 'prompts-editor');
    await page.getByRole('button', { name: 'Activate version 2' }).click();
    await page.getByText('Version 2 is active: renders use it.').waitFor();

    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.locator('ins').first().waitFor();
    expect(await page.locator('ins').allInnerTexts()).toEqual(['a short letter ']);
    await page.getByRole('button', { name: 'Side by side' }).click();
    expect(await page.getByRole('region', { name: 'Version 1' }).innerText()).toBe(
      'Write to {{ customer }} about {{ topic }}.',
    );
    await expectGoodLooks(page, 'prompts-compare');

    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('Shorter', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo: activate version 1' }).click();
    await page.getByText('Version 1 became active').waitFor();
    await page.getByText('version 1 of 2 is active').waitFor();
    await page.getByRole('button', { name: 'Activate version 2', exact: true }).click();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Version 2 → 1' }).nth(1).waitFor();
    // Each button names its version.
    await page.getByRole('link', { name: 'Compare with active for version 2' }).waitFor();
    await page.getByRole('button', { name: 'Edit a copy of version 1' }).waitFor();
    await expectGoodLooks(page, 'prompts-versions');

    await page.getByRole('link', { name: '← Prompts' }).click();
    await page.getByRole('searchbox', { name: 'Search prompts' }).fill('no such');
    await page.getByText('No prompt matches.').waitFor();
    await page.getByRole('searchbox', { name: 'Search prompts' }).fill('SUPPORT');
    await page.getByRole('link', { name: 'Support reply' }).waitFor();
    await expectGoodLooks(page, 'prompts');
    await page.getByRole('link', { name: 'Support reply' }).click();
    await page.getByRole('button', { name: 'Delete prompt' }).click();
    await page.getByText('Programs that render support-reply will get 404 immediately.').waitFor();
    await page.getByText('Widgets that use it go back to their own system prompt.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete prompt' }).click();
    await page.getByText('No prompts yet.').waitFor();
  });

  test('a name of 255 letters without a space fits everywhere', async () => {
    const name = 'n'.repeat(255);
    const { id } = await suite.api<Prompt>(user.token, 'POST', '/api/prompts', { name, content: 'Hello' });
    const page = await keep('/dashboard/prompts');
    await page.getByRole('link', { name }).waitFor();
    await expectGoodLooks(page, 'prompts-long-name');
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    await expectGoodLooks(page, 'prompt-long-name');
    await page.getByRole('button', { name: 'Delete prompt' }).click();
    await page.getByRole('dialog').getByText(name).waitFor();
    await expectGoodLooks(page, 'prompt-long-name-delete');
    await goInside(page, '/dashboard/widgets');
    await page.getByRole('button', { name: 'Create widget' }).first().click();
    await page.getByLabel('Instructions').selectOption(id);
    await expectGoodLooks(page, 'widget-long-name');
  });

  test('text typed while a prompt is created stays as an unsaved change', async () => {
    const { page, release } = await createHeld('Typed');
    await text(page).press('Control+End');
    await text(page).pressSequentially(' And more.');
    release();
    await page.getByRole('heading', { name: 'Typed', level: 1 }).waitFor();
    await page.getByText('Unsaved changes of version 1.').waitFor();
    expect(await text(page).inputValue()).toBe('First text. And more.');
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('text typed after coming back to a prompt that is being created stays', async () => {
    const { page, release } = await createHeld('Left behind');
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage', exact: true }).waitFor();
    await page.goBack();
    const holds = (value: string) =>
      until(async () => (await text(page).inputValue()) === value, { what: `the text "${value}"` });
    await holds('First text.');
    await text(page).press('Control+End');
    await text(page).pressSequentially(' And more.');
    const answered = answerWith(page, '"createPrompt"');
    release();
    await answered;
    // The page has handled the answer by the next frame.
    await page.evaluate('new Promise(requestAnimationFrame)');
    await page.unrouteAll({ behavior: 'wait' });
    await page.reload();
    await holds('First text. And more.');
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('the editor shows a saved version and continues from it before it is loaded again', async () => {
    const { id } = await create('First text.');
    const page = await keep(`/dashboard/prompts/${id}`);
    const reads = await saveUnread(page);
    await page.getByText('Version 2 is saved.').waitFor();
    expect(await text(page).inputValue()).toBe('Second text.');
    await text(page).press('Control+End');
    await text(page).pressSequentially(' And more.');
    expect(await page.getByText('saved elsewhere').count()).toBe(0);
    reads.release();
    await page.getByRole('button', { name: 'Save as version 3' }).click();
    await page.getByText('Version 3 is saved.').waitFor();
    expect(await text(page).inputValue()).toBe('Second text. And more.');
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('a page that has not loaded its own changes yet accepts the next one, but none after somebody else’s', async () => {
    const { id } = await create('First text.');
    const page = await keepAs(browser, suite, user, `/dashboard/prompts/${id}`, { expectedErrors: /409/ });
    const reads = await saveUnread(page);
    await page.getByRole('button', { name: 'Activate version 2' }).click();
    await until(async () => (await promptOf(id)).active_version.version === 2);
    await page.getByRole('button', { name: 'Edit name' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Renamed');
    await page.keyboard.press('Enter');
    await until(async () => (await promptOf(id)).name === 'Renamed');
    await suite.api(user.token, 'PATCH', `/api/prompts/${id}`, { description: 'Written elsewhere' });
    await page.getByRole('button', { name: 'Edit description' }).click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Written here');
    await page.keyboard.press('Enter');
    await page.getByText('It was changed elsewhere in the meantime').waitFor();
    expect((await promptOf(id)).description).toBe('Written elsewhere');
    reads.release();
    await page.getByText('Version 2 is active: renders use it.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('"Undo" undoes the activation that it names, or nothing', async () => {
    const { id } = await create('One');
    const [second, third] = [await addVersion(id, 'Two'), await addVersion(id, 'Three')];
    const activate = (version: { id: string }) =>
      suite.api(user.token, 'POST', `/api/prompts/${id}/versions/${version.id}/activate`);
    await activate(second);
    const address = `/dashboard/prompts/${id}?tab=versions`;
    const page = await keepAs(browser, suite, user, address, { expectedErrors: /409/ });
    const undo = page.getByRole('button', { name: 'Undo: activate version 1' });
    await undo.waitFor();
    await page.getByRole('link', { name: 'Editor' }).click();
    await activate(third);
    await page.getByText('version 3 of 3 is active').waitFor();
    // The old versions are shown until they are loaded again.
    const reads = await holdAnswers(page, '"activations"');
    await page.getByRole('link', { name: 'Versions' }).click();
    await undo.click();
    await page.getByText('It was changed elsewhere in the meantime').waitFor();
    expect((await promptOf(id)).active_version.version).toBe(3);
    reads.release();
    await page.getByRole('button', { name: 'Undo: activate version 2' }).click();
    await page.getByText('version 2 of 3 is active').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('a comparison names the versions it shows until the chosen ones are loaded', async () => {
    const { id } = await create('One fox.');
    for (const content of ['Two foxes.', 'Three foxes.']) await addVersion(id, content);
    const page = await keep(`/dashboard/prompts/${id}?tab=diff&from=1&to=2`);
    const changes = (to: number) =>
      page.getByRole('region', { name: `Changes from version 1 to version ${to}` });
    await changes(2).waitFor();
    const { held, release } = await holdAnswers(page, '"diff"');
    await page.getByLabel('To', { exact: true }).selectOption('3');
    await held;
    await page
      .locator('[aria-busy=true]')
      .filter({ has: changes(2) })
      .waitFor();
    expect(await changes(3).count()).toBe(0);
    release();
    await changes(3).locator('ins', { hasText: 'Three' }).waitFor();
    expect(await page.locator('[aria-busy=true]').count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('values are rendered exactly, missing ones are listed together, and the text goes to the playground', async () => {
    const { id } = await create('Hi {{ name }}, {{ greeting }} {{ the_thing }} {"json": {"a": 1}}');
    const page = await keepAs(browser, suite, user, `/dashboard/prompts/${id}?tab=render`, {
      expectedErrors: /400/,
    });
    const field = (name: string) => page.getByRole('textbox', { name });
    await field('greeting').fill('<b>{{ name }}</b>');
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByText('Required variables are missing: name, the_thing.').waitFor();
    expect(await page.getByText('A value is required').count()).toBe(2);
    await hasFocus(field('name'));
    await field('name').fill('Ada');
    await field('the_thing').fill('$&');
    await page.getByRole('button', { name: 'Render' }).click();
    const rendered = page.getByRole('region', { name: 'Rendered text' });
    await rendered.waitFor();
    const whole = 'Hi Ada, <b>{{ name }}</b> $& {"json": {"a": 1}}';
    expect(await rendered.innerText()).toBe(whole);
    const old = page.getByText('The values have changed since.');
    expect(await old.count()).toBe(0);
    await field('name').fill('Bob');
    await old.waitFor();
    await expectGoodLooks(page, 'prompts-render');
    await field('name').fill('Ada');
    await old.waitFor({ state: 'detached' });
    const logIn = page.getByRole('link', { name: 'log in over the API' });
    expect(await logIn.getAttribute('href')).toBe('/docs/api#login');
    const snippet = page.getByRole('region', { name: 'Snippet' });
    await page.getByRole('button', { name: 'Python', exact: true }).click();
    expect(await snippet.innerText()).toContain(`${suite.url}/v1`);
    await page.getByRole('button', { name: 'Node', exact: true }).click();
    const program = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', await snippet.innerText()],
      { env: { ...process.env, SESSION_TOKEN: user.token, GATEWAY_API_KEY: user.key } },
    );
    expect(program.stdout.trim()).not.toBe('');
    await page.getByRole('button', { name: 'Open in playground' }).click();
    await page.waitForURL('**/dashboard/playground?draft=*');
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe(whole);
    await page.reload();
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe(whole);
  });

  test('a rendered text goes to the playground with the model of its own version', async () => {
    const configOf = (model: string, temperature: number) => ({
      config: { model_public_name: model, temperature },
    });
    const { id } = await suite.api<Prompt>(user.token, 'POST', '/api/prompts', {
      name: 'River',
      content: 'A \u{1f600} river',
      ...configOf('gateway/qwen-fast', 0.5),
    });
    const path = `/api/prompts/${id}/versions`;
    const second = await suite.api<{ id: string }>(user.token, 'POST', path, {
      content: 'A lake',
      ...configOf('gateway/fast', 1),
    });
    const page = await keep(`/dashboard/prompts/${id}?tab=render`);
    await page.getByRole('button', { name: 'Render' }).click();
    // An emoji is one character, as for the limit.
    await page.getByText('Version 1, 9 characters.').waitFor();
    await suite.api(user.token, 'POST', `${path}/${second.id}/activate`);
    await page.getByText('Renders version 2, the active one.').waitFor();
    await page.getByRole('button', { name: 'Open in playground' }).click();
    await page.waitForURL('**/dashboard/playground?draft=*');
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.5');
    expect(await page.getByRole('checkbox', { name: 'gateway/qwen-fast' }).isChecked()).toBe(true);
  });

  test('too many variables show an error at the variables', async () => {
    const { id } = await suite.api<Prompt>(user.token, 'POST', '/api/prompts', {
      name: 'Many',
      content: '\u{1f600} {{ extra }}',
      variables: Array.from({ length: 100 }, (_, n) => ({ name: `v${n}` })),
    });
    const page = await keep(`/dashboard/prompts/${id}`);
    await page.getByText('13 of 50,000 characters').waitFor();
    await page.getByRole('button', { name: 'Declare extra' }).click();
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await page.getByText('Must have at most 100 entries').waitFor();
  });

  test('a value may be empty despite a default, and an untouched field uses the default', async () => {
    const { id } = await suite.api<Prompt>(user.token, 'POST', '/api/prompts', {
      name: 'Greeting',
      content: '[{{ name }}][{{ title }}][{{ greeting }}]',
      variables: ['title', 'greeting'].map((name) => ({ name, default: `the ${name}` })),
    });
    const page = await keep(`/dashboard/prompts/${id}?tab=render`);
    const rendered = page.getByRole('region', { name: 'Rendered text' });
    const render = async (expected: string): Promise<void> => {
      await page.getByRole('button', { name: 'Render' }).click();
      await rendered.getByText(expected, { exact: true }).waitFor();
    };
    await page.getByLabel('Empty text for name').check();
    await page.getByLabel('Empty text for title').check();
    await render('[][][the greeting]');
    await page.reload();
    await render('[][][the greeting]');
    await page.getByRole('textbox', { name: 'name' }).fill('Ada');
    expect(await page.getByLabel('Empty text for name').isChecked()).toBe(false);
    await page.getByLabel('Empty text for title').uncheck();
    // A field that is typed and cleared counts as untouched.
    await page.getByRole('textbox', { name: 'greeting' }).fill('Hello');
    await page.getByRole('textbox', { name: 'greeting' }).fill('');
    await render('[Ada][the title][the greeting]');
  });

  test('two tabs with one prompt show each other’s changes without replacing text', async () => {
    const { id } = await create('First {{ name }}');
    const address = `/dashboard/prompts/${id}`;
    const one = await keep(address);
    const other = await one.context().newPage();
    await other.goto(address);
    await text(other).fill('Typed in the other tab');
    await text(one).fill('Saved in the one tab');
    await one.getByRole('button', { name: 'Save as version 2' }).click();
    await one.getByText('Version 2 is saved.').waitFor();
    await other
      .getByText('Version 2 was saved elsewhere. Your changes began with version 1 and don’t contain it.')
      .waitFor();
    expect(await text(other).inputValue()).toBe('Typed in the other tab');
    // Saving in one tab keeps the draft of the other.
    await other.reload();
    await other.getByText('Version 2 was saved elsewhere.').waitFor();
    expect(await text(other).inputValue()).toBe('Typed in the other tab');
    await other.getByRole('button', { name: 'Save as version 3' }).click();
    await other.getByText('Version 3 is saved.').waitFor();
    await one.getByText('Version 3 was saved elsewhere. This is its text.').waitFor();
    expect(await text(one).inputValue()).toBe('Typed in the other tab');
    expect((await promptOf(id)).version_count).toBe(3);
    await goInside(other, `${address}?tab=versions`);
    await other.getByRole('button', { name: 'Activate version 3' }).waitFor();
    await other.close();

    await suite.api(user.token, 'DELETE', `/api/prompts/${id}`);
    await one.getByRole('heading', { name: 'Prompt not found' }).waitFor();
  });

  test('a change based on old data is refused, shown beside the current data, and accepted after a review', async () => {
    const { id } = await create('One');
    // Without its socket, this tab gets no events.
    const page = await pageOf(browser, suite, user, { expectedErrors: /409/ });
    await page.routeWebSocket(/graphql/, () => undefined);
    await page.goto(`/dashboard/prompts/${id}`);
    await page.getByRole('button', { name: 'Edit name' }).click();
    await suite.api(user.token, 'PATCH', `/api/prompts/${id}`, { name: 'Renamed elsewhere' });
    await page.getByRole('textbox', { name: 'Name' }).fill('Renamed here');
    await page.keyboard.press('Enter');
    await page.getByText('Name was changed elsewhere after you began. Now: Renamed elsewhere').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Renamed here');
    expect((await promptOf(id)).name).toBe('Renamed elsewhere');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Renamed here' }).waitFor();
    expect((await promptOf(id)).name).toBe('Renamed here');
  });

  test('a version whose calls have all failed has no latency', async () => {
    const { id, active_version: version } = await create('One');
    const failed = {
      status: 'error' as const,
      errorCode: 'upstream_unavailable',
      httpStatus: 503,
      outputTokens: 0,
      cost: 0n,
      promptVersionId: version.id,
    };
    await flushWhenFree(suite.db.pool, [recordOf(user, failed)]);
    const page = await keep(`/dashboard/prompts/${id}?tab=stats`);
    const cell = (row: string) => page.getByRole('row', { name: row }).getByRole('cell');
    expect(await cell('Errors').innerText()).toBe('1');
    expect(await cell('Latency, median').innerText()).toBe('–');
    expect(await cell('Latency, p95').innerText()).toBe('–');
  });

  test('shows statistics of two versions side by side, and prices their calls on another model', async () => {
    const { id, active_version: first } = await create('One');
    const second = await addVersion(id, 'Two');
    const callWith = async (version: { id: string }): Promise<void> => {
      const answer = await postChat(suite.url, user.key, {}, { 'x-gateway-prompt-version': version.id });
      expect(answer.status).toBe(200);
    };
    for (const version of [first, first, second]) await callWith(version);
    await suite.settled();
    const page = await keep(`/dashboard/prompts/${id}?tab=stats`);
    const row = page.getByRole('row', { name: /^Calls \d/ });
    await row.waitFor();
    expect(await row.getByRole('cell').allInnerTexts()).toEqual(['2', '1']);
    await page.getByText('Inconclusive: the 95% intervals of the error rates overlap.').waitFor();
    await page.getByRole('button', { name: 'Price on another model' }).click();
    await page.getByLabel('Model', { exact: true }).selectOption('gateway/qwen-pro');
    await page.getByText('2 calls', { exact: true }).waitFor();
    await page.getByText('On gateway/qwen-pro').waitFor();
    await expectGoodLooks(page, 'prompts-stats');
    // The priced calls follow live calls, like the statistics.
    await callWith(first);
    await page.getByText('3 calls', { exact: true }).waitFor();
  });
});
