import type { BrowserContext, Page } from 'playwright-core';
import { PASSWORD } from '../support/api.js';
import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import type { StackUser } from '../support/stack-callers.js';
import { dropSession, goInside, openAs, pageOf } from './dashboard.js';

/** Characters of one and two code units; the long text nearly has the maximum length. */
const SHORT = 'Name the rivers of Europe. The Danube, the Łyna and the Ångermanälven are three of them. 🌊 ';
const LONG = `Name the rivers of Europe. ${'The Danube, the Łyna, the Vltava and the Ångermanälven are four of them. 🌊 '.repeat(530)}`;

/** Accidents while typing: afterwards, not a character is missing. */
describeInBrowser('text that was typed and not sent', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let user: StackUser;
  let email: string;
  let page: Page;
  beforeAll(async () => {
    user = await suite.signUp('team');
    ({ email } = await suite.api<{ email: string }>(user.token, 'GET', '/api/auth/me'));
  });

  interface Place {
    address: string;
    /** Label of the field. */
    label: string;
    text: string;
    /** Another page to go to, and the way back. */
    elsewhere: string;
    back: string;
  }
  /** All fields keep drafts in the same way (`useDraft`), so a long text is only tested in the first one. */
  const places = async (): Promise<Place[]> => [
    {
      address: await promptAddress(),
      label: 'Prompt text',
      text: LONG,
      elsewhere: 'Versions',
      back: 'Editor',
    },
    {
      address: '/dashboard/prompts/new',
      label: 'Prompt text',
      text: `A new prompt. ${SHORT}`,
      elsewhere: 'Prompts',
      back: 'Create prompt',
    },
    {
      address: await widgetAddress(),
      label: 'System prompt',
      text: `A widget. ${SHORT}`,
      elsewhere: 'Widgets',
      back: 'Long',
    },
    {
      address: '/dashboard/widgets/new',
      label: 'System prompt',
      text: `A new widget. ${SHORT}`,
      elsewhere: 'Widgets',
      back: 'Create widget',
    },
    {
      address: '/dashboard/playground',
      label: 'Prompt',
      text: `A question. ${SHORT}`,
      elsewhere: 'Usage',
      back: 'Playground',
    },
  ];
  async function promptAddress(): Promise<string> {
    const input = { name: 'Long', content: 'short' };
    const { id } = await suite.api<{ id: string }>(user.token, 'POST', '/api/prompts', input);
    return `/dashboard/prompts/${id}`;
  }
  async function widgetAddress(): Promise<string> {
    const input = { name: 'Long', model_public_name: 'gateway/fast' };
    const { id } = await suite.api<{ id: string }>(user.token, 'POST', '/api/widgets', input);
    return `/dashboard/widgets/${id}`;
  }

  const send = (): Promise<void> =>
    page
      .getByRole('main')
      .getByRole('button', { name: /^(Save|Create prompt|Create widget|Run$)/ })
      .click();

  test('survives five accidents in a prompt, a new prompt, a widget, a new widget and the playground', async () => {
    page = await pageOf(browser, suite, user, { expectedErrors: /Failed to load|WebSocket|401/ });
    // Without the live connection, whose opening would refresh the page: without a session, that leads to the log-in before a save.
    await page.routeWebSocket(/graphql/, () => undefined);
    const all = await places();
    const field = ({ label }: Place) => page.getByLabel(label, { exact: true });
    const expectWhole = async (place: Place): Promise<void> => {
      await field(place).waitFor();
      expect([place.address, (await field(place).inputValue()) === place.text]).toEqual([
        place.address,
        true,
      ]);
    };
    await page.goto('/dashboard/models');
    await page.getByRole('heading', { level: 1, name: 'Models', exact: true }).waitFor();
    for (const place of all) {
      await goInside(page, place.address);
      await field(place).waitFor();
      const name = page.getByRole('textbox', { name: 'Name', exact: true });
      if (await name.isVisible()) await name.fill('Long one');
      await field(place).fill(place.text);
    }

    // A reload.
    await page.reload();
    await expectWhole(all.at(-1)!);
    for (const place of all) {
      await goInside(page, place.address);
      await expectWhole(place);

      // Another page, and back.
      await page.getByRole('link', { name: place.elsewhere, exact: true }).first().click();
      await field(place).waitFor({ state: 'detached' });
      const leadsBack = { name: place.back, exact: true };
      await page.getByRole('link', leadsBack).or(page.getByRole('button', leadsBack)).first().click();
      await expectWhole(place);

      // A save fails while the server is away; the server comes back.
      await page.route('**/graphql', (route) => route.abort());
      await send();
      await page.getByText('The server can’t be reached.').first().waitFor();
      await expectWhole(place);
      await page.unrouteAll({ behavior: 'wait' });
    }

    // The session ends: the log-in leads back.
    for (const place of all) {
      await goInside(page, place.address);
      await field(place).waitFor();
      await dropSession(page);
      await send();
      await page.getByLabel('Email').fill(email);
      await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in' }).click();
      await expectWhole(place);
    }

    // The session ends again, and the tab is closed, as by a restart of the browser: the log-in leads back in the next tab.
    const context: BrowserContext = page.context();
    const cookies = await dropSession(page);
    await send();
    await page.getByRole('textbox', { name: 'Password' }).waitFor();
    const last = page.url();
    const next = await context.newPage();
    await page.close();
    page = next;
    await context.addCookies(cookies);
    await page.goto(last);
    await expectWhole(all.at(-1)!);
    for (const place of all.slice(0, -1)) {
      await goInside(page, place.address);
      await expectWhole(place);
    }
  });

  test('survives a restart of the server, and is sent completely afterwards', async () => {
    page = await openAs(browser, suite, user, await promptAddress(), {
      expectedErrors: /Failed to load|WebSocket|503/,
    });
    const question = await page.context().newPage();
    await question.goto('/dashboard/playground');
    const fields = [page.getByLabel('Prompt text'), question.getByLabel('Prompt', { exact: true })] as const;
    const typed = [LONG, SHORT];
    for (const [n, field] of fields.entries()) await field.fill(typed[n]!);
    const sends = [
      page.getByRole('button', { name: 'Save as version 2' }),
      question.getByRole('button', { name: 'Run', exact: true }),
    ] as const;
    // Waits for what the button needs, such as the models.
    for (const send of sends) await send.click({ trial: true });
    const whole = typed.map((text) => `${text}And more.`);
    await suite.without('platform', async () => {
      for (const [n, field] of fields.entries()) {
        const refused = (n === 0 ? page : question).waitForResponse(
          (response) => response.url().endsWith('/graphql') && response.status() >= 500,
        );
        await sends[n]!.click();
        await refused;
        // Typed while the server is away.
        await field.press('Control+End');
        await field.page().keyboard.insertText('And more.');
        expect((await field.inputValue()) === whole[n]).toBe(true);
      }
    });
    for (const [n, field] of fields.entries()) expect((await field.inputValue()) === whole[n]).toBe(true);
    await page.reload();
    await fields[0].waitFor();
    expect((await fields[0].inputValue()) === whole[0]).toBe(true);
    await sends[0].click();
    await page.getByText('Version 2 is saved.').waitFor();
    await sends[1].click();
    await question.waitForURL('**/dashboard/playground?session=*');
    const [saved] = await suite.api<{ active_version: { content: string }; id: string }[]>(
      user.token,
      'GET',
      '/api/prompts?limit=1',
    );
    const { versions } = await suite.api<{ versions: { content: string }[] }>(
      user.token,
      'GET',
      `/api/prompts/${saved!.id}`,
    );
    expect(versions[0]!.content === whole[0]).toBe(true);
    const id = new URL(question.url()).searchParams.get('session');
    const asked = await suite.api<{ prompt: string }>(user.token, 'GET', `/api/playground/${id}`);
    expect(asked.prompt === whole[1]).toBe(true);
    await question.close();
  });
});
