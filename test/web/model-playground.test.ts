import type { Page } from 'playwright-core';
import { ask as askApi, type Session, writeResponse } from '../playground/support.js';
import { PASSWORD, signUp } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { until } from '../support/until.js';
import {
  answerWith,
  clickToCopy,
  expectGoodLooks,
  goInside,
  hasFocus,
  holdAnswers,
  keepAs,
  openAs,
  pageOf,
} from './dashboard.js';

const FAST = 'gateway/fast';
const QWEN = 'gateway/qwen-fast';
const PRO = 'gateway/qwen-pro';
/** With `COLUMNS_TRACE=1` (docs/testing.md). */
const TRACED_RUNS = 20;

/** From a question to answers that are streamed, stopped, shared, kept and saved as a prompt. */
describeInBrowser('the model playground of the dashboard', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  beforeAll(async () => {
    user = await suite.signUp('pro');
  });
  /** Each test begins without sessions and prompts. */
  beforeEach(async () => {
    for (const path of ['/api/playground', '/api/prompts']) {
      const former = await suite.api<{ id: string }[]>(user.token, 'GET', path);
      for (const { id } of former) await suite.api(user.token, 'DELETE', `${path}/${id}`);
    }
  });

  const prompt = (page: Page) => page.getByLabel('Prompt', { exact: true });
  const column = (page: Page, model: string) => page.getByRole('article', { name: model, exact: true });
  const answer = (page: Page, model: string) => page.getByRole('region', { name: `Answer of ${model}` });
  const ask = async (page: Page, text: string): Promise<void> => {
    await prompt(page).fill(text);
    await page.keyboard.press('Control+Enter');
  };
  /** Until no draft has a text. `waitForFunction` would compile it in each frame, which the page's policy forbids. */
  const noDraftHas = (page: Page, text: string): Promise<boolean> => {
    const look = `!Object.values(localStorage).some((draft) => draft.includes('${text}'))`;
    return until(() => page.evaluate<boolean>(look), { what: `no draft with "${text}"` });
  };

  test('models stream side by side, and are stopped one by one or together', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/playground', {
      expectedErrors: /Failed to load|ERR_FAILED/,
    });
    await page.getByText('No sessions yet.').waitFor();
    await expectGoodLooks(page, 'model-playground-empty');
    // A model outside of the plan is marked.
    const reason = page.getByRole('checkbox', { name: /deepseek-reason.*not in your plan/ });
    expect(await reason.isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: PRO }).check();
    // The stream never ends by itself, so everything is checked during it.
    await ask(page, 'Go on. [[sim words=3000 chunk_ms=100]]');
    for (const model of [FAST, QWEN, PRO]) await column(page, model).getByText('answering').waitFor();
    const lengthOf = async (model: string): Promise<number> => (await answer(page, model).innerText()).length;
    for (const model of [FAST, QWEN, PRO]) {
      const before = await lengthOf(model);
      await until(async () => (await lengthOf(model)) > before, { what: `more of ${model}` });
    }
    await page.getByRole('button', { name: `Stop ${FAST}` }).click();
    await column(page, FAST).getByText('stopped').waitFor();
    await column(page, QWEN).getByText('answering').waitFor();
    // A late viewer sees the text so far, and the rest as it streams.
    await page.reload();
    const begun = await lengthOf(QWEN);
    await until(async () => (await lengthOf(QWEN)) > begun, { what: 'more after a reload' });
    // A failed next question keeps the answers.
    const refused = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      // Other requests of the page are answered.
      if (!route.request().postData()?.includes('And now?')) return route.continue();
      sent.resolve();
      await refused.promise;
      await route.abort();
    });
    await ask(page, 'And now? [[sim words=3]]');
    await sent.promise;
    const arrived = await lengthOf(QWEN);
    await until(async () => (await lengthOf(QWEN)) > arrived, { what: 'more beside another question' });
    refused.resolve();
    await page.getByRole('alert').getByText('The server can’t be reached.').waitFor();
    expect(await lengthOf(QWEN)).toBeGreaterThan(arrived);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Stop all' }).click();
    for (const model of [QWEN, PRO]) await column(page, model).getByText('stopped').waitFor();
    await column(page, QWEN)
      .getByText(/^\$0\.00/)
      .waitFor();
  });

  test('answers are Markdown without HTML: pictures become links, and code can be copied', async () => {
    const { body } = await askApi(suite.url, user.token, [FAST], 'Markdown, please. [[sim words=3]]');
    const { id, runs }: Session = body;
    const text = [
      '# Rivers',
      'Some **bold** and <b>plain</b> <img src="https://evil.example/a.png" onerror="alert(1)">',
      '![cat](https://evil.example/cat.png) and [run](javascript:alert(1))',
      '',
      'مرحبا!',
      '```js',
      'const river = "<Thames>";',
      '```',
    ].join('\n');
    await writeResponse(suite.db.pool, { accountId: user.accountId, runId: runs[0]!.id, text });
    const page = await keepAs(browser, suite, user, `/dashboard/playground?session=${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    const shown = answer(page, FAST);
    await shown.getByRole('heading', { name: 'Rivers' }).waitFor();
    expect(await shown.locator('strong').allInnerTexts()).toEqual(['bold']);
    // A request to another host would fail the test by itself.
    expect(await shown.locator('img, b').count()).toBe(0);
    await shown.getByText('<b>plain</b> <img src=').waitFor();
    const links = shown.getByRole('link');
    // An address in a text is a link too.
    expect(await links.allInnerTexts()).toEqual(['https://evil.example/a.png', 'Image: cat']);
    expect(await links.last().getAttribute('rel')).toBe('noopener noreferrer nofollow');
    // A paragraph in Arabic begins at the right, and its full stop is at the left.
    const arabic = `[...document.querySelectorAll('article p')].find((p) => p.textContent === 'مرحبا!')`;
    expect(await page.evaluate<string>(`getComputedStyle(${arabic}).unicodeBidi`)).toBe('plaintext');
    await clickToCopy(shown.getByRole('button', { name: 'Copy code' }));
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('const river = "<Thames>";');
    await expectGoodLooks(page, 'model-playground-markdown');
    await page.getByRole('button', { name: 'Raw' }).click();
    expect(await shown.innerText()).toBe(text);
  });

  test('thinking before an answer is folded, and a run without an answer shows where its tokens went', async () => {
    const { body } = await askApi(suite.url, user.token, [FAST, QWEN], 'Well? [[sim words=2]]');
    const texts = ['<think>Let me see.</think>Here it is.', ''];
    for (const [at, text] of texts.entries()) {
      await writeResponse(suite.db.pool, { accountId: user.accountId, runId: body.runs[at]!.id, text });
    }
    const page = await keepAs(browser, suite, user, `/dashboard/playground?session=${body.id}`);
    await answer(page, FAST).getByText('Here it is.').waitFor();
    expect(await answer(page, FAST).getByText('Let me see.').isVisible()).toBe(false);
    await answer(page, FAST).getByText('Thinking', { exact: true }).click();
    await answer(page, FAST).getByText('Let me see.', { exact: true }).waitFor();
    await column(page, QWEN).getByText('All of this run’s tokens went into thinking.').waitFor();
  });

  test('the history names a session by its first words, however late they come', async () => {
    await askApi(suite.url, user.token, [FAST], `${'\n'.repeat(130)}Late words. [[sim words=3]]`);
    const page = await keepAs(browser, suite, user, '/dashboard/playground');
    await page.getByRole('link', { name: 'Late words. [[sim words=3]]' }).waitFor();
  });

  test('text typed while the models start is kept, and the focus stays', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/playground');
    const starts = await holdAnswers(page, '"runPlayground"');
    await ask(page, 'Ten words. [[sim words=10]]');
    await page.getByText('Waiting for the first token').first().waitFor();
    await page.keyboard.type(' And more.');
    starts.release();
    await page.waitForURL('**/dashboard/playground?session=*');
    await column(page, FAST).getByText('done').waitFor();
    await page.keyboard.type(' Still here.');
    expect(await prompt(page).inputValue()).toBe('Ten words. [[sim words=10]] And more. Still here.');
    await page.reload();
    await prompt(page).waitFor();
    expect(await prompt(page).inputValue()).toBe('Ten words. [[sim words=10]] And more. Still here.');
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('the wait for the first token is measured by the browser’s clock, from the click on', async () => {
    const page = await pageOf(browser, suite, user);
    await page.addInitScript('const now = Date.now; Date.now = () => now() + 300_000;');
    await page.goto('/dashboard/playground');
    const starts = await holdAnswers(page, '"runPlayground"');
    await ask(page, 'Slowly. [[sim words=3 ttft_ms=20000]]');
    await starts.held;
    const waits = page.getByText(/^Waiting for the first token, [1-9]\d? s$/).first();
    await waits.waitFor();
    starts.release();
    await column(page, FAST)
      .getByRole('button', { name: `Stop ${FAST}` })
      .waitFor();
    await waits.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Stop all' }).click();
    await column(page, FAST).getByText('stopped').waitFor();
  });

  test('leaving while the models start doesn’t lead back, and the session is in the history', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/playground');
    const starts = await holdAnswers(page, '"runPlayground"');
    await ask(page, 'Left behind. [[sim words=10]]');
    await starts.held;
    await page.getByRole('link', { name: 'Prompts', exact: true }).click();
    await page.getByText('No prompts yet.').waitFor();
    const answered = answerWith(page, '"runPlayground"');
    starts.release();
    await answered;
    // The sent question is no longer a draft: the page has received the answer.
    await noDraftHas(page, 'Left behind.');
    expect(new URL(page.url()).pathname).toBe('/dashboard/prompts');
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    expect(await prompt(page).inputValue()).toBe('');
    await page.getByRole('link', { name: 'Left behind.' }).click();
    await column(page, FAST).getByText('done').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('opening another session while the models start stays there, and each session keeps its draft', async () => {
    const { body } = await askApi(suite.url, user.token, [FAST], 'Older. [[sim words=3]]');
    const page = await keepAs(browser, suite, user, `/dashboard/playground?session=${body.id}`);
    await column(page, FAST).getByText('done').waitFor();
    await prompt(page).fill('Draft of the older one');
    await page.getByRole('link', { name: 'New session' }).click();
    await until(async () => (await prompt(page).inputValue()) === '', { what: 'an empty form' });
    const starts = await holdAnswers(page, '"runPlayground"');
    await ask(page, 'Newer. [[sim words=10]]');
    await starts.held;
    await page.getByRole('link', { name: 'Older.' }).click();
    // The answers of this session, not the columns of the one that starts.
    await column(page, FAST).getByText('done').waitFor();
    const answered = answerWith(page, '"runPlayground"');
    starts.release();
    await answered;
    await noDraftHas(page, 'Newer.');
    expect(new URL(page.url()).searchParams.get('session')).toBe(body.id);
    expect(await prompt(page).inputValue()).toBe('Draft of the older one');
    await page.getByRole('link', { name: 'Newer.' }).click();
    await column(page, QWEN).getByText('done').waitFor();
    expect(await prompt(page).inputValue()).toBe('Newer. [[sim words=10]]');
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('the page follows the end of an answer only while the reader is at the end', async () => {
    // In a small window, a short text already overflows.
    const page = await keepAs(browser, suite, user, '/dashboard/playground');
    await page.setViewportSize({ width: 390, height: 300 });
    await page.getByRole('checkbox', { name: QWEN }).uncheck();
    await ask(page, 'Go on. [[sim words=3000 chunk_ms=30]]');
    const box = answer(page, FAST);
    const scroll = () =>
      box.evaluate((element: { scrollTop: number; scrollHeight: number; clientHeight: number }) => ({
        top: element.scrollTop,
        left: element.scrollHeight - element.scrollTop - element.clientHeight,
        height: element.scrollHeight,
      }));
    await until(async () => (await scroll()).top > 50, { what: 'the text to be longer than its box' });
    expect((await scroll()).left).toBeLessThan(30);
    await box.evaluate((element: { scrollTop: number }) => {
      element.scrollTop = 0;
    });
    const { height } = await scroll();
    await until(async () => (await scroll()).height > height + 20, { what: 'more text' });
    expect((await scroll()).top).toBe(0);
    await page.getByRole('button', { name: 'Stop all' }).click();
    await column(page, FAST).getByText('stopped').waitFor();
  });

  test('answers are measured, kept, shared, shared by a new link, saved as a prompt and deleted', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/playground', { expectedErrors: /404/ });
    await page.getByText('System prompt').click();
    await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.');
    await page.getByText('Parameters').click();
    await page.getByLabel('Temperature').fill('hot');
    await ask(page, 'Name a river. [[sim words=12]]');
    await page.getByText('Must be a number from 0 to 2').waitFor();
    await hasFocus(page.getByLabel('Temperature'));
    await page.getByLabel('Temperature').fill('0.4');
    await page.keyboard.press('Control+Enter');
    for (const model of [FAST, QWEN]) await column(page, model).getByText('done').waitFor();
    await column(page, FAST)
      .getByText(/\d ms$/)
      .nth(1)
      .waitFor();
    await expectGoodLooks(page, 'model-playground');

    // Shared, visible with the link, and no longer visible after sharing ends.
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Anyone with the link can read').waitFor();
    await dialog.getByRole('button', { name: 'Share' }).click();
    const link = dialog.getByRole('region', { name: 'Public link' });
    const first = await link.innerText();
    expect((await fetch(first)).status).toBe(200);
    await expectGoodLooks(page, 'model-playground-share');
    // The link isn't revoked by a single click.
    await dialog.getByRole('button', { name: 'New link' }).click();
    await dialog.getByText('This one stops working immediately').waitFor();
    await expectGoodLooks(page, 'model-playground-new-link');
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    expect([await link.innerText(), (await fetch(first)).status]).toEqual([first, 200]);
    await dialog.getByRole('button', { name: 'New link' }).click();
    await dialog.getByRole('button', { name: 'Create new link' }).click();
    await until(async () => (await link.innerText()) !== first, { what: 'another link' });
    expect((await fetch(first)).status).toBe(404);
    const second = await link.innerText();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Shared' }).last().click();
    await page.getByRole('link', { name: 'Name a river.' }).waitFor();
    await page.getByRole('region', { name: 'Sessions' }).getByText('shared', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Shared' }).first().click();
    await dialog.getByRole('button', { name: 'Stop sharing' }).click();
    await dialog.getByText('Anyone with the link can read').waitFor();
    expect((await fetch(second)).status).toBe(404);

    // Changes of the link in another tab are shown after coming back.
    await dialog.getByRole('button', { name: 'Share' }).click();
    const third = await link.innerText();
    const sharing = `/api/playground/${new URL(page.url()).searchParams.get('session')}/share`;
    const comesBackTo = (what: string, isSeen: () => Promise<boolean>): Promise<unknown> =>
      until(
        async () => {
          await page.evaluate('window.dispatchEvent(new Event("focus"))');
          return isSeen();
        },
        { what },
      );
    const renewed = await suite.api<{ public_url: string }>(user.token, 'POST', sharing, { rotate: true });
    await comesBackTo('the new link', async () => (await link.innerText()) !== third);
    expect(await link.innerText()).toBe(renewed.public_url);
    await suite.api(user.token, 'DELETE', sharing);
    const unshared = dialog.getByText('Anyone with the link can read');
    await comesBackTo('the end of sharing', () => unshared.isVisible());
    await page.keyboard.press('Escape');
    await page.getByText('No shared sessions yet.').waitFor();

    // Saved as a prompt with the parameters of the question.
    await page.getByRole('link', { name: 'Save as prompt' }).click();
    const text = page.getByLabel('Prompt text');
    await text.waitFor();
    expect(await text.inputValue()).toBe('Be brief.\n\nName a river. [[sim words=12]]');
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.4');
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe(FAST);
    await page.getByLabel('Name', { exact: true }).fill('River');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('river, version 1 of 1 is active').waitFor();

    // From the history into the form, edited without losing the session, and deleted.
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    expect(await prompt(page).inputValue()).toBe('');
    await page.getByRole('link', { name: 'Name a river.' }).click();
    await column(page, FAST).getByText('done').waitFor();
    expect(await prompt(page).inputValue()).toBe('Name a river. [[sim words=12]]');
    await page.getByRole('button', { name: 'Delete Name a river.' }).click();
    await dialog.getByRole('button', { name: 'Delete session' }).click();
    await page.getByText('No sessions yet.').waitFor();
  });

  test('a failed answer hides no other, and a refusal of the plan shows its reason', async () => {
    const page = await keepAs(browser, suite, user, '/dashboard/playground', { expectedErrors: /4\d\d/ });
    await ask(page, 'Fail. [[sim status=400]]');
    await column(page, FAST).getByText('failed').waitFor();
    await column(page, QWEN).getByText('failed').waitFor();
    await page.getByRole('checkbox', { name: FAST }).uncheck();
    await page.getByRole('checkbox', { name: QWEN }).uncheck();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Choose 1 to 4 models').waitFor();
    await hasFocus(page.getByRole('checkbox', { name: FAST }));
    // An error opens the folded section of its field.
    const folded = page.getByText('System prompt', { exact: true });
    await folded.click();
    await page.getByRole('textbox', { name: 'System prompt' }).fill('x'.repeat(50_001));
    await folded.click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Must have at most 50,000 characters').waitFor();
    // Clears the form for the next test.
    await page.getByRole('textbox', { name: 'System prompt' }).fill('');
    for (const model of [FAST, QWEN]) await page.getByRole('checkbox', { name: model }).check();
    await prompt(page).fill('');
    await goInside(page, '/dashboard/playground?session=01890000-0000-7000-8000-000000000000');
    await page.getByText('This session is gone.').waitFor();
  });

  test('the link of a shared session is copied, and a stranger tries the session after a log-in', async () => {
    const { body } = await askApi(
      suite.url,
      user.token,
      [PRO, FAST],
      'Name a <b>lake</b>. [[sim words=40]]',
      {
        system_prompt: 'Be brief.',
        parameters: { temperature: 0.4, max_tokens: 64 },
      },
    );
    const { public_url: link } = await suite.api<{ public_url: string }>(
      user.token,
      'POST',
      `/api/playground/${body.id}/share`,
      {},
    );
    const stranger = await signUp(suite.url);
    const page = await browser.open(suite.url);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url });
    await page.goto(link);
    await clickToCopy(page.getByRole('button', { name: 'Copy prompt' }));
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(body.prompt);
    await expectGoodLooks(page, 'shared-playground');
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByLabel('Email').fill(stranger.user.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This is the question of a shared session.').waitFor();
    expect(await prompt(page).inputValue()).toBe(body.prompt);
    expect(await page.getByRole('textbox', { name: 'System prompt' }).inputValue()).toBe('Be brief.');
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.4');
    // Models outside of the stranger's plan are left out, with a note.
    await page.getByText(`Your plan doesn’t include ${PRO}.`).waitFor();
    expect(await page.getByRole('checkbox', { name: FAST }).isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: PRO }).isChecked()).toBe(false);
    await expectGoodLooks(page, 'model-playground-from-shared');
    // Changes are kept, and nothing is sent before a click.
    await prompt(page).fill('Name a pond. [[sim words=4]]');
    await page.reload();
    await prompt(page).waitFor();
    expect(await prompt(page).inputValue()).toBe('Name a pond. [[sim words=4]]');
    await page.getByText('No sessions yet.').waitFor();
    await prompt(page).press('Control+Enter');
    await column(page, FAST).getByText('done').waitFor();
    await suite.api(user.token, 'DELETE', `/api/playground/${body.id}/share`);
  });

  // Without the variable, the test isn't declared: a skipped test would fail CI.
  if (process.env.COLUMNS_TRACE === '1')
    test('four columns begin within 20 ms of each other', async () => {
      const models = [FAST, QWEN, PRO, 'gateway/deepseek-code'];
      const spreads: number[] = [];
      const page = await openAs(browser, suite, await suite.signUp('team'), '/dashboard/playground');
      for (const model of models.slice(2)) await page.getByRole('checkbox', { name: model }).check();
      for (let run = 0; run < TRACED_RUNS; run++) {
        await prompt(page).fill(
          `Begin ${run}. ${'x'.repeat(run % 2 === 0 ? 10 : 20_000)} [[sim words=8 ttft_ms=200]]`,
        );
        // When each column began to have text continuously.
        await page.evaluate(`
          globalThis.begun = {};
          globalThis.watching?.disconnect();
          globalThis.watching = new MutationObserver(() => {
            for (const article of document.querySelectorAll('article')) {
              const name = article.getAttribute('aria-label');
              const text = article.querySelector('section')?.textContent ?? '';
              if (text !== '' && !text.startsWith('Waiting')) begun[name] ??= performance.now();
              else delete begun[name];
            }
          });
          watching.observe(document.body, { childList: true, subtree: true, characterData: true })`);
        const before = page.url();
        await prompt(page).press('Control+Enter');
        await page.waitForURL((url) => url.href !== before);
        for (const model of models) await column(page, model).getByText('done').waitFor();
        const begun = Object.values(await page.evaluate<Record<string, number>>('begun'));
        expect(begun).toHaveLength(models.length);
        spreads.push(Math.max(...begun) - Math.min(...begun));
      }
      const sorted = spreads.toSorted((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)]!;
      process.stdout.write(
        `${spreads.length} runs of ${models.length} columns: median ${median.toFixed(1)} ms, longest ${sorted.at(-1)!.toFixed(1)} ms\n`,
      );
      expect(median).toBeLessThanOrEqual(20);
    });
});
