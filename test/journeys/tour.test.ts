import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { call, PASSWORD, type SessionAnswer } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { createProduct, type Product } from '../support/product.js';
import { HEARTBEAT_SECRET } from '../support/secrets.js';
import { callsOf, goInside, pageOf } from '../web/dashboard.js';
import { takesMessages } from '../widgets/site.js';

const run = promisify(execFile);
const CUSTOMER = 'ada@example.com';
const ADMIN = 'admin@example.com';
const [FAST, QWEN] = ['gateway/fast', 'gateway/qwen-fast'];
/** More than any page has controls before the one that is meant. */
const MOST_TABS = 80;

const isFocused = (element: { matches(selector: string): boolean }): boolean => element.matches(':focus');

/** The controls that the README's tour names, in bold. */
const tour = readFileSync('README.md', 'utf8')
  .split(/^## /m)
  .find((part) => part.startsWith('A tour'))!;
const named = new Set([...tour.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name!));

/**
 * The README's tour, step by step, through `npm start`: a customer, a prompt author, a user of the playground, an owner of a
 * widget, an operator and an administrator. With PICTURES=1 (`npm run pictures`) it makes the tour's pictures.
 */
describeInBrowser('the tour of the README', () => {
  const browser = useBrowser();
  let product: Product;
  let url: string;
  const used = new Set<string>();
  beforeAll(async () => {
    product = await createProduct({
      ADMIN_EMAIL: ADMIN,
      ADMIN_PASSWORD: PASSWORD,
      GPU_HEARTBEAT_SECRET: HEARTBEAT_SECRET,
    });
    await product.start();
    url = product.url.replace('127.0.0.1', 'localhost');
  }, 60_000);
  afterAll(() => product?.remove(), 60_000);

  /** A name as the tour has it. */
  const documented = (name: string): string => {
    expect([...named]).toContain(name);
    used.add(name);
    return name;
  };
  const click = (page: Page, role: 'button' | 'link', name: string): Promise<void> =>
    page
      .getByRole(role, { name: documented(name), exact: true })
      .first()
      .click();
  const fill = (page: Page, label: string, text: string): Promise<void> =>
    page.getByLabel(documented(label), { exact: true }).fill(text);
  const openAs = async (email: string, path: string): Promise<Page> => {
    const { body } = await call<SessionAnswer>(url, 'POST', '/api/auth/login', {
      body: { email, password: PASSWORD },
    });
    const page = await pageOf(browser, { url }, { token: body.access_token });
    await page.goto(path);
    return page;
  };
  const picture = async (page: Page, name: string): Promise<void> => {
    if (process.env.PICTURES !== '1') return;
    await page.evaluate('scrollTo(0, 0)');
    const protocol = await page.context().newCDPSession(page);
    const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 75 });
    mkdirSync('docs/pictures', { recursive: true });
    writeFileSync(join('docs/pictures', `${name}.webp`), Buffer.from(data, 'base64'));
  };

  /** The customer's page, which the tests share. */
  const openCustomer = (path: string): Promise<Page> =>
    browser.keep(
      () => openAs(CUSTOMER, path),
      (page) => goInside(page, path),
    );

  test('somebody signs up, makes the first call as the page shows it, and finds it in the usage list', async () => {
    const page = await browser.keep(
      () => browser.open(url),
      () => Promise.reject(new Error('somebody who is new has no page yet')),
    );
    await page.goto('/signup');
    await fill(page, 'Name', 'Ada');
    await fill(page, 'Email', CUSTOMER);
    await page.getByRole('textbox', { name: documented('Password') }).fill(PASSWORD);
    await click(page, 'button', 'Create account');
    await click(page, 'button', 'Create my first key');
    const key = await page.getByRole('region', { name: 'API key' }).innerText();
    await click(page, 'button', 'curl');
    const snippet = await page.getByRole('region', { name: 'Snippet for curl' }).innerText();
    const answer = await run('sh', ['-c', snippet]);
    expect(JSON.parse(answer.stdout)).toMatchObject({ model: FAST });
    await page.getByText('Your first call has arrived').waitFor();
    await picture(page, 'first-call');
    await click(page, 'button', 'I’ve saved it');
    await click(page, 'button', 'Show usage');
    for (let n = 1; n < 7; n++) {
      const body = {
        model: FAST,
        messages: [{ role: 'user', content: 'Tell me about rivers. '.repeat(9 * n) }],
      };
      const { status } = await call(url, 'POST', '/v1/chat/completions', { token: key, body });
      expect(status).toBe(200);
    }
    await click(page, 'link', 'Usage');
    const calls = callsOf(page).locator('tbody tr');
    await calls.nth(6).waitFor();
    await picture(page, 'usage');
    await calls.first().click();
    await page.getByRole('dialog', { name: 'Call' }).getByText('Served by').waitFor();
  }, 90_000);

  test('an administrator changes plan and credit of a customer, who sees it at once, and the log keeps it', async () => {
    const customer = await openCustomer('/dashboard/billing');
    const page = await openAs(ADMIN, '/admin');
    await click(page, 'link', 'Users');
    await page.getByLabel('Search users').fill('ada');
    await page.waitForURL('**/admin/users?q=ada');
    await page.getByRole('link', { name: CUSTOMER }).click();
    const dialog = page.getByRole('dialog');
    await page.getByRole('combobox', { name: documented('Plan') }).selectOption('pro');
    await click(page, 'button', 'Change plan');
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await fill(page, 'Amount', '2.5');
    await fill(page, 'Reason', 'Welcome');
    await click(page, 'button', 'Adjust credit');
    await dialog.getByRole('button', { name: 'Adjust credit' }).click();
    await page.getByText('Adjusted by +$2.50.').waitFor();
    await customer.getByText('Welcome').first().waitFor();
    await click(page, 'link', 'Audit log');
    await page.getByText('Adjusted credit').first().waitFor();
    await page.getByText('Changed account').first().waitFor();
  }, 90_000);

  test('two models answer the same prompt side by side, as they write', async () => {
    const page = await openCustomer('/dashboard');
    await click(page, 'link', 'Playground');
    const answered = page.getByRole('region', { name: `Answer of ${FAST}` });
    await page.evaluate(`{
      const lengths = (window.lengths = new Set());
      const look = () => lengths.add(document.querySelector('[aria-label="Answer of ${FAST}"]')?.innerText.length ?? 0);
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    }`);
    // Slow enough for a busy machine to show it in parts; not in a picture.
    const pace = process.env.PICTURES ? '' : '[[sim chunk_ms=50]] ';
    await fill(page, 'Prompt', `${pace}Why do rivers meander? Answer in three sentences.`);
    documented('Ctrl+Enter');
    await page.keyboard.press('Control+Enter');
    for (const model of [FAST, QWEN])
      await page.getByRole('article', { name: model, exact: true }).getByText('done').waitFor();
    expect((await answered.innerText()).length).toBeGreaterThan(20);
    // Its text was there in parts before it was whole.
    expect(await page.evaluate<number>('window.lengths.size')).toBeGreaterThan(2);
    await picture(page, 'playground');
    await click(page, 'button', 'Share');
    await page.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
    const link = await page.getByRole('region', { name: 'Public link' }).innerText();
    expect((await fetch(link)).status).toBe(200);
  }, 90_000);

  test('an author keeps a prompt in versions, compares them and rolls back', async () => {
    const page = await openCustomer('/dashboard');
    await click(page, 'link', 'Prompts');
    await click(page, 'link', 'Create prompt');
    await fill(page, 'Name', 'Support reply');
    await fill(page, 'Prompt text', 'Write to {{ customer }} about {{ topic }}.');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('support-reply, version 1 of 1 is active').waitFor();
    await fill(page, 'Prompt text', 'Write a short, friendly letter to {{ customer }} about {{ topic }}.');
    await click(page, 'button', 'Save as version 2');
    await click(page, 'button', 'Activate version 2');
    await page.getByText('Version 2 is active: renders use it.').waitFor();
    await click(page, 'link', 'Compare');
    await page.locator('ins').first().waitFor();
    await picture(page, 'prompts');
    await click(page, 'link', 'Versions');
    await click(page, 'button', 'Roll back to version 1');
    await page.getByText('version 1 of 2 is active').waitFor();
  }, 90_000);

  test('a widget answers in its preview, and has a tag to paste', async () => {
    const page = await openCustomer('/dashboard');
    await click(page, 'link', 'Widgets');
    await click(page, 'button', 'Create widget');
    await page.waitForURL('**/dashboard/widgets/new');
    await fill(page, 'Name', 'Shop');
    await fill(page, 'Greeting', 'Welcome to the shop. How can we help?');
    await page.getByRole('button', { name: 'Create widget' }).click();
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    const frame = (await (await page.getByTitle('Preview of the chat').elementHandle())!.contentFrame())!;
    await frame.locator('.turn').first().waitFor();
    await frame.locator('#box').fill('Do you ship to Norway?');
    await frame.locator('#box').press('Enter');
    await frame.locator('.turn.assistant').nth(1).waitFor();
    await takesMessages(frame);
    await page.getByText('/widget/v1.js" data-pr-widget="wgt_pr_').waitFor();
    await picture(page, 'widget');
  }, 90_000);

  test('an operator logs in, registers a node, sees it healthy and drains it, by keyboard alone', async () => {
    const page = await browser.open(url);
    const focus = async (target: Locator): Promise<void> => {
      await target.waitFor();
      for (let i = 0; i < MOST_TABS; i++) {
        if (await target.evaluate(isFocused)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error('the keyboard does not reach it');
    };
    const press = async (
      role: 'button' | 'link',
      name: string,
      within: Page | Locator = page,
    ): Promise<void> => {
      await focus(within.getByRole(role, { name: documented(name), exact: true }).first());
      await page.keyboard.press('Enter');
    };
    const type = async (label: Locator, text: string): Promise<void> => {
      await focus(label);
      await page.keyboard.type(text);
    };
    await page.goto('/login');
    await type(page.getByLabel('Email'), ADMIN);
    await type(page.getByLabel('Password', { exact: true }), PASSWORD);
    await press('button', 'Log in');
    await press('link', 'Nodes');
    await press('link', 'Register node');
    await type(page.getByLabel('Name'), 'rack 1');
    await type(page.getByLabel(documented('Address')), 'http://10.9.8.7:8000');
    await type(page.getByLabel('GPU type'), 'H100');
    await type(page.getByLabel('Region'), 'eu-1');
    await type(page.getByLabel('Provider'), 'own');
    await type(page.getByLabel(/Cost per hour/), '2.5');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting for the first heartbeat').waitFor();
    await page.waitForURL(/nodes\/[\w-]{36}/);
    const nodeId = /nodes\/([\w-]{36})/.exec(page.url())![1]!;
    await beat(nodeId);
    await page.getByText('Heartbeats arrive.').waitFor();
    await press('link', '← Nodes');
    const row = page.getByRole('row').filter({ hasText: 'rack 1' });
    await row.getByText('healthy', { exact: true }).waitFor();
    await picture(page, 'nodes');
    await focus(row.getByRole('button', { name: 'Drain rack 1' }));
    await page.keyboard.press('Enter');
    await press('button', 'Drain', page.getByRole('dialog'));
    await row.getByText('drained').waitFor();
  }, 90_000);

  /** One heartbeat of the agent, whose command line the page shows. */
  const beat = async (nodeId: string): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-tour-'));
    const secret = join(folder, 'secret');
    writeFileSync(secret, HEARTBEAT_SECRET);
    const agent = resolve('dist/cli/gateway-agent.js');
    await run(process.execPath, [agent, '--once', '--url', url, '--node', nodeId, '--secret-file', secret]);
    rmSync(folder, { recursive: true });
  };

  test('has been taken whole: no control of the README was left out', () => {
    expect([...named].filter((name) => !used.has(name))).toEqual([]);
  });
});
