import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page, WebSocketRoute } from 'playwright-core';
import { NODE_NEWS_CHANNEL } from '../../src/db/invalidation.js';
import { DOLLAR } from '../../src/lib/money.js';
import type { ModelOutput } from '../../src/services/billing/billing.outputs.js';
import { documentIdOf } from '../graphql/support.js';
import { costing, flushWhenFree, recordOf } from '../metering/support.js';
import { beat, RUN, register } from '../nodes/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, PASSWORD, type UserFields } from '../support/api.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser, screenshot, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { HEARTBEAT_SECRET } from '../support/secrets.js';
import { until } from '../support/until.js';
import {
  dropSession,
  expectGoodLooks,
  goInside,
  hasFocus,
  holdAnswers,
  keepAs,
  openAs,
  pageOf,
} from './dashboard.js';

/** The tasks of operators and administrators, from registering a node to draining it, and with an account's credit. */
describeInBrowser('the admin pages', () => {
  const browser = useBrowser();
  const suite = useProduct();
  let admin: { token: string; user: UserFields };
  beforeAll(async () => {
    admin = await signUpAdmin(suite);
  });

  /** Sends one heartbeat, like the agent of a node. */
  const runAgent = async (nodeId: string): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
    const secretFile = join(folder, 'secret');
    writeFileSync(secretFile, HEARTBEAT_SECRET);
    const args = ['--once', '--url', suite.url, '--node', nodeId, '--secret-file', secretFile];
    await new Promise<void>((done, fail) => {
      execFile(process.execPath, [resolve('dist/cli/gateway-agent.js'), ...args], (error) =>
        error ? fail(error) : done(),
      );
    });
    rmSync(folder, { recursive: true });
  };
  /** For tests that can share a page. */
  const keep = (path: string): Promise<Page> => keepAs(browser, suite, admin, path);
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const typeInto = async (page: Page, texts: readonly string[]): Promise<void> => {
    for (const text of texts) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
  };

  test('an operator registers a node, sees its heartbeat and its silence, and drains it, by keyboard alone', async () => {
    const name = `rack ${randomUUID()}`;
    const page = await keep('/admin');
    await page.waitForURL('**/admin/nodes');
    const link = page.getByRole('link', { name: 'Register node' });
    await link.focus();
    await page.keyboard.press('Enter');
    // The title of a new page takes the focus, and typed text would go there.
    await hasFocus(page.getByRole('heading', { level: 1, name: 'Register a node' }));
    await page.getByLabel('Address').focus();
    await page.keyboard.press('Enter');
    await page.getByText('Must not be empty').first().waitFor();
    await hasFocus(page.getByLabel('Name'));
    await expectAccessible(page);
    await screenshot(page, 'admin-register');
    await page.getByLabel('Name').focus();
    await typeInto(page, [name, 'http://10.9.8.7:8000', 'H100', 'eu-1', 'own', '2.5']);
    await page.keyboard.press('Enter');
    await page.getByText('Waiting for the first heartbeat').waitFor();
    const nodeId = /nodes\/([\w-]{36})/.exec(page.url())![1]!;
    const command = await page.getByRole('region', { name: 'Command line of the agent' }).innerText();
    expect(command).toContain(`--url ${suite.url} \\`);
    expect(command).toContain(`--node ${nodeId} \\`);
    await page.getByText('No deployment uses this address, so the node gets no traffic.').waitFor();
    await runAgent(nodeId);
    await page.getByText('Heartbeats arrive.').waitFor();
    await page.getByText('healthy', { exact: true }).waitFor();
    await expectGoodLooks(page, 'admin-node');

    const board = await openAs(browser, suite, admin, '/admin/nodes');
    const row = rowOf(board, name);
    await row.getByText('healthy', { exact: true }).waitFor();
    const age = row.locator('[data-figure]').first();
    const seconds = await age.innerText();
    await until(async () => (await age.innerText()) !== seconds, { what: 'the age to tick' });
    await suite.db.pool.query(
      `update gpu_nodes set last_heartbeat_at = now() - interval '10 minutes' where id = $1`,
      [nodeId],
    );
    await suite.db.pool.query(`select pg_notify('${NODE_NEWS_CHANNEL}', '')`);
    await row.getByText(/silent|unhealthy/).waitFor();
    await row.locator('[data-stale]').waitFor();
    await page.getByText(/^No heartbeat since /).waitFor();
    expect(await page.getByText('Heartbeats arrive.').count()).toBe(0);
    await expectGoodLooks(board, 'admin-nodes');
    await board.getByLabel('Search nodes').fill(name);
    await board.getByText(/^1 of /).waitFor();

    // The confirmation is closed if somebody else drains the node meanwhile.
    await page.getByRole('button', { name: 'Take offline' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('its silence is expected').waitFor();
    await board.getByRole('button', { name: `Drain ${name}` }).focus();
    await board.keyboard.press('Enter');
    await board.getByRole('dialog').getByText('Calls in flight finish').waitFor();
    // A new dialog takes the focus, to its first control.
    await board.getByRole('dialog').locator(':focus').waitFor();
    await board.getByRole('dialog').getByRole('button', { name: 'Drain' }).focus();
    await board.keyboard.press('Enter');
    await board.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('dialog').getByText('was changed elsewhere and is draining now').waitFor();
    await page.keyboard.press('Escape');
    await row.getByText('drained').waitFor();
  });

  test('a node whose model server names its model by a long path fits its page', async () => {
    const { id, name } = await register(
      { url: suite.url, token: admin.token },
      { name: `rack ${randomUUID()}` },
    );
    const path = `/models/${'0123456789abcdef'.repeat(12)}`;
    await beat(suite.url, id, { loaded_models: [path] }, HEARTBEAT_SECRET);
    const page = await keep(`/admin/nodes/${id}`);
    await page.getByRole('heading', { name }).waitFor();
    await page.getByText(path).waitFor();
    await expectGoodLooks(page, 'admin-node-long-model');
  });

  test('going from one node to another never shows "not found"', async () => {
    const [one, other] = await Promise.all(
      ['one', 'other'].map((name) =>
        register({ url: suite.url, token: admin.token }, { name: `${name} ${randomUUID()}` }),
      ),
    );
    const page = await keep(`/admin/nodes/${one!.id}`);
    await page.getByRole('heading', { level: 1, name: one!.name }).waitFor();
    await page.evaluate(`
      globalThis.titles = [];
      globalThis.watching = new MutationObserver(() => titles.push(document.querySelector('h1')?.textContent));
      watching.observe(document.body, { subtree: true, childList: true, characterData: true })`);
    // Like going back from one to the other.
    await page.evaluate(`history.pushState(null, '', '/admin/nodes/${other!.id}')`);
    await page.getByRole('heading', { level: 1, name: other!.name }).waitFor();
    const titles = await page.evaluate<(string | null)[]>('watching.disconnect(), titles');
    expect(titles).toContain(other!.name);
    expect(titles).not.toContain('Node not found');
  });

  test('no node is shown as silent while the connection is lost, nor after a sleep', async () => {
    const name = `heard ${randomUUID()}`;
    const { id } = await register({ url: suite.url, token: admin.token }, { name });
    await beat(suite.url, id, undefined, HEARTBEAT_SECRET);
    const page = await pageOf(browser, suite, admin);
    const sockets: WebSocketRoute[] = [];
    let isAway = false;
    await page.routeWebSocket('**/graphql', (socket) => {
      if (isAway) return void socket.close();
      const server = socket.connectToServer();
      socket.onMessage((message) => void (isAway || server.send(message)));
      server.onMessage((message) => void (isAway || socket.send(message)));
      sockets.push(socket);
    });
    await page.clock.install();
    await page.goto('/admin/nodes');
    const healthy = rowOf(page, name).getByText('healthy', { exact: true });
    await healthy.waitFor();
    isAway = true;
    const sleep = async (): Promise<void> => {
      await page.clock.fastForward('10:00');
      // Coming back to a page refreshes it, but the answers have no heartbeats.
      const answered = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/graphql'));
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await answered;
      await page.clock.runFor(2_000);
      expect(await healthy.isVisible()).toBe(true);
    };
    // The connection is lost, but the page doesn't know yet; then it does.
    await sleep();
    await Promise.all(sockets.map((socket) => socket.close()));
    const note = page.getByRole('banner').getByText(/^Reconnecting, data as of/);
    await note.waitFor();
    await sleep();
    isAway = false;
    await note.waitFor({ state: 'hidden' });
    await healthy.waitFor();
  });

  test('a change of a node saved in another tab is not overwritten', async () => {
    const { id } = await register(
      { url: suite.url, token: admin.token },
      { name: `two tabs ${randomUUID()}` },
    );
    const page = await keep(`/admin/nodes/${id}?tab=settings`);
    await page.getByLabel('Region').fill('eu-9');
    await suite.api(admin.token, 'PATCH', `/api/admin/gpu-nodes/${id}`, { provider: 'another' });
    await page
      .getByText('The node was changed elsewhere after you began. Now: provider another; region eu-1.')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Discard mine' }).click();
    await page.getByLabel('Region').fill('eu-9');
    const saved = await holdAnswers(page, '"updateGpuNode"');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved.held;
    // What was typed now would be lost with the answer.
    expect(await page.getByLabel('Region').isEditable()).toBe(false);
    saved.release();
    await hasFocus(page.getByRole('status').filter({ hasText: 'Saved.' }));
    const node = await suite.api<object>(admin.token, 'GET', `/api/admin/gpu-nodes/${id}`);
    expect(node).toMatchObject({ provider: 'another', region: 'eu-9' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('an administrator sees the effect before adjusting credit and plan, and the audit log has both', async () => {
    const user = await suite.signUp('free');
    const page = await keep(`/admin/users/${user.accountId}`);
    // A name may contain characters that reverse text: they are isolated.
    await page.locator('main bdi').waitFor();
    await page.getByLabel('Amount').fill('0');
    await page.getByRole('button', { name: 'Adjust credit' }).click();
    await page.getByText('Must not be 0').waitFor();
    await page.getByLabel('Amount').fill('2.5');
    await page.getByLabel('Reason').fill('Apology for the outage');
    await page.getByRole('button', { name: 'Adjust credit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('$3.50').waitFor();
    await expectAccessible(page);
    const made = await holdAnswers(page, '"adjustCredit"');
    await dialog.getByRole('button', { name: 'Adjust credit' }).click();
    await made.held;
    // Text typed behind the dialog would be lost with the answer.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Amount').isEditable()).toBe(false);
    expect(await page.getByLabel('Reason').isEditable()).toBe(false);
    made.release();
    await page.getByText('Adjusted by +$2.50. New balance: $3.50.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await page.getByLabel('Amount').isEditable()).toBe(true);
    await page.getByText('Reason: Apology for the outage').waitFor();
    const { balance_usd: balance } = await suite.api<{ balance_usd: string }>(
      user.token,
      'GET',
      '/api/billing/balance',
    );
    expect(balance).toBe('3.500000');

    await page.getByRole('combobox', { name: 'Plan' }).selectOption('pro');
    await page.getByRole('button', { name: 'Change plan' }).click();
    await suite.api(admin.token, 'PATCH', `/api/admin/users/${user.accountId}`, { plan: 'team' });
    // The page may get the event first and disable the button.
    await dialog.getByRole('button', { name: 'Change plan' }).dispatchEvent('click');
    await dialog.getByText(/has changed in the meantime|was changed elsewhere/).waitFor();
    expect(await suite.api(user.token, 'GET', '/api/auth/me')).toMatchObject({ plan_id: 'team' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expectGoodLooks(page, 'admin-user');

    await goInside(page, `/admin/audit?subject=${user.accountId}&kind=account.adjust_credit`);
    await page.getByText('Adjusted credit').waitFor();
    expect(await page.getByText('Changed account').count()).toBe(0);
    await screenshot(page, 'admin-audit');
    // The link to all actions of an administrator drops the previous search.
    const subject = page.getByRole('searchbox', { name: 'Filter by what was changed' });
    await subject.fill(user.accountId.slice(0, 8));
    await page.getByText('No actions match.').waitFor();
    await subject.fill(user.accountId);
    await page.getByRole('link', { name: admin.user.email }).first().click();
    await page.getByRole('button', { name: 'Remove filter One administrator' }).waitFor();
    await until(async () => (await subject.inputValue()) === '', { what: 'the field to be empty' });
    expect(new URL(page.url()).searchParams.has('subject')).toBe(false);
  });

  test('an adjustment whose answer was lost is made once, however often it is sent', async () => {
    const user = await suite.signUp('free');
    const page = await keepAs(browser, suite, admin, `/admin/users/${user.accountId}`, {
      expectedErrors: /ERR_FAILED/,
    });
    const document = documentIdOf('mutation AdjustCredit');
    let lost = 0;
    await page.route('**/graphql', async (route) => {
      if (lost > 0 || !route.request().postData()?.includes(document)) return route.fallback();
      lost++;
      await route.fetch();
      await route.abort();
    });
    await page.getByLabel('Amount').fill('2.5');
    await page.getByLabel('Reason').fill('Apology for the outage');
    const dialog = page.getByRole('dialog');
    const ask = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Adjust credit' }).click();
      await dialog.getByRole('button', { name: 'Adjust credit' }).click();
    };
    await ask();
    await dialog.getByText('The server can’t be reached.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await ask();
    await page.getByText('Adjusted by +$2.50. New balance: $3.50.').waitFor();
    const adjustments = async () => {
      const { rows } = await suite.db.pool.query<{ amount: string }>(
        `select trim_scale(amount)::text as amount from ledger_entries
         where account_id = $1 and kind = 'adjustment' order by seq`,
        [user.accountId],
      );
      return rows.map(({ amount }) => amount);
    };
    expect([lost, await adjustments()]).toEqual([1, ['2.5']]);
    // After success, the same amount and reason are a new adjustment.
    await page.getByLabel('Amount').fill('2.5');
    await page.getByLabel('Reason').fill('Apology for the outage');
    await ask();
    await page.getByText('New balance: $6.00.').waitFor();
    expect(await adjustments()).toEqual(['2.5', '2.5']);
  });

  test('a parked deployment counts down correctly although the browser’s clock is ahead of the server’s', async () => {
    const page = await keep('/admin/nodes');
    await page.evaluate('window.rightNow = Date.now; Date.now = () => rightNow() + 120_000;');
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data?: { routing?: { deployments: object[] }[] } };
      const deployment = body.data?.routing?.[0]?.deployments[0];
      if (deployment) Object.assign(deployment, { status: 'PARKED', parkedForSeconds: 40 });
      await route.fulfill({ response, json: body });
    });
    await goInside(page, '/admin/routing');
    await page.getByText(/^parked, (3[5-9]|4[01]) s left$/).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.evaluate('Date.now = rightNow');
  });

  test('shows routing, jobs, users and benchmarks', async () => {
    const page = await keep('/admin/routing');
    const check = async (name: string, sign: string | RegExp): Promise<void> => {
      await page.getByText(sign).first().waitFor();
      await expectAccessible(page);
      await screenshot(page, name);
    };
    await check('admin-routing', 'serving');
    for (const [link, sign] of [
      ['Jobs', 'Took'],
      ['Benchmarks', /No runs yet|Latest of each node and model/],
      ['Audit log', 'Subject'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
      await check(`admin-${link.split(' ')[0]!.toLowerCase()}`, sign);
    }
    await goInside(page, '/admin/users?q=example.com');
    await check('admin-users', admin.user.email);
  });

  const submitRun = async (nodeId: string, changes: object = {}): Promise<void> => {
    const answer = await call(suite.url, 'POST', '/api/internal/benchmarks', {
      token: HEARTBEAT_SECRET,
      body: { node_id: nodeId, ...RUN, ...changes },
    });
    expect(answer.status).toBe(201);
  };
  const p95Within = (low: number, high: number) => ({
    p95_latency_ms: (low + high) / 2,
    intervals: [{ measure: 'p95_latency_ms', low, high }],
  });

  test('compares two runs chosen from the lists; the address keeps the choice', async () => {
    const [slow, fast] = [`slow ${randomUUID()}`, `fast ${randomUUID()}`];
    const as = { url: suite.url, token: admin.token };
    const { id: slowId } = await register(as, { name: slow });
    const { id: fastId } = await register(as, { name: fast });
    await submitRun(slowId, p95Within(890, 910));
    await submitRun(fastId, { ...p95Within(690, 710), concurrency: 16 });
    await submitRun(fastId, { model_public_name: 'gateway/qwen-pro' });
    const page = await keep('/admin/benchmarks');
    await page.getByText('Choose two runs of one model').waitFor();
    const latest = page.getByRole('region', { name: 'Latest benchmarks' });
    const choose = (node: string, model = 'gateway/fast') =>
      latest.getByRole('button', { name: `${node}, ${model}` });
    await choose(slow).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The base is chosen. Choose another run of gateway/fast').waitFor();
    expect(await choose(fast, 'gateway/qwen-pro').isDisabled()).toBe(true);
    await choose(fast).focus();
    await page.keyboard.press('Enter');
    const comparison = page.getByRole('region', { name: 'Comparison of two runs' });
    const measure = (name: string) => comparison.getByRole('row').filter({ hasText: name }).innerText();
    await rowOf(page, 'Latency, p95').getByText('better').waitFor();
    expect(await measure('Latency, p95')).toMatch(/900 ms.*700 ms.*-200 ms \(-22\.2%\)/s);
    expect(await measure('Tokens')).toContain('inconclusive');
    await page.getByText('The runs differ in parallel requests').waitFor();
    await page.getByText('Not measured in both runs: goodput').waitFor();
    await until(
      async () => /^Comparison/.test(await page.evaluate<string>('document.activeElement.innerText')),
      { what: 'the focus on the comparison' },
    );
    const { pathname, search } = new URL(page.url());
    await goInside(page, `${pathname}${search}`);
    await rowOf(page, 'Latency, p95').getByText('better').waitFor();
    await expectGoodLooks(page, 'admin-comparison');
    await page.getByRole('button', { name: 'Swap' }).click();
    await rowOf(page, 'Latency, p95').getByText('worse').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Choose two runs of one model').waitFor();
    await goInside(page, `/admin/benchmarks?base=${slowId}&other=nothing`);
    await page.getByText('One of the runs doesn’t exist').waitFor();
  });

  test('no node of a run is shown as deleted while the names of nodes are loading', async () => {
    const name = `unnamed ${randomUUID()}`;
    const { id } = await register({ url: suite.url, token: admin.token }, { name });
    await submitRun(id);
    const gone = await register({ url: suite.url, token: admin.token }, { name: `gone ${randomUUID()}` });
    await submitRun(gone.id);
    await suite.api(admin.token, 'DELETE', `/api/admin/gpu-nodes/${gone.id}`);
    const page = await pageOf(browser, suite, admin, { expectedErrors: /ERR_FAILED/ });
    // Without the live connection, which would refresh the page by itself once it opens.
    await page.routeWebSocket(/graphql/, () => undefined);
    const names = documentIdOf('query NodeNames');
    let away = true;
    await page.route('**/graphql', (route) =>
      away && route.request().postData()?.includes(names) ? route.abort() : route.fallback(),
    );
    await page.goto('/admin/benchmarks');
    await page.getByRole('alert').getByText('The server can’t be reached.').waitFor();
    const latest = page.getByRole('region', { name: 'Latest benchmarks' });
    const deleted = latest.getByText('deleted node').first();
    await latest.getByRole('link', { name: id }).waitFor();
    expect(await deleted.count()).toBe(0);
    // The page tries again by itself.
    away = false;
    await latest.getByRole('link', { name }).waitFor();
    await deleted.waitFor();
    // Also by a link, the page shows which node is filtered.
    await goInside(page, `/admin/benchmarks?node=${gone.id}`);
    const chosen = page.getByRole('combobox', { name: 'Node' });
    await chosen.locator('option', { hasText: 'deleted node' }).waitFor({ state: 'attached' });
    expect(await chosen.inputValue()).toBe(gone.id);
  });

  test('shows margins of all nodes and of one, with the latency of its benchmark; a node without a cost gets advice', async () => {
    const [earning, free] = [`earning ${randomUUID()}`, `free ${randomUUID()}`];
    const as = { url: suite.url, token: admin.token };
    const { id } = await register(as, { name: earning });
    await register(as, { name: free, hourly_cost_usd: 0 });
    await suite.db.pool.query(`update gpu_nodes set created_at = now() - interval '10 hours' where id = $1`, [
      id,
    ]);
    await submitRun(id, { ...p95Within(490, 510), concurrency: 16 });
    const served = {
      deployment: 'fast-1',
      nodeId: id,
      nodeCalls: 16,
      latencyMs: 90,
      ...costing(DOLLAR / 4n),
    };
    const payer = await suite.signUp('free');
    await suite.api(payer.token, 'POST', '/api/billing/topup', { amount_usd: 10 });
    await flushWhenFree(
      suite.db.pool,
      Array.from({ length: 24 }, () => recordOf(payer, { createdAt: Date.now(), ...served })),
    );
    const uncounted = { inputTokens: 0, outputTokens: 0, anomalous: true };
    await flushWhenFree(suite.db.pool, [recordOf(payer, { createdAt: Date.now(), ...served, ...uncounted })]);
    const page = await keep('/admin/margin');
    const margins = page.getByRole('region', { name: 'Margins of all nodes' });
    const row = margins.getByRole('row').filter({ hasText: earning });
    // $6 in ten hours that cost $2.50 each.
    await row.getByText(/^-\$1\.90/).waitFor();
    expect(await row.innerText()).toContain('$6.00');
    expect(await margins.getByRole('row').last().innerText()).toContain('Set hourly cost');
    await expectGoodLooks(page, 'admin-margin');

    await row.getByRole('link', { name: earning }).click();
    await page.getByText('25 calls, 0 failed').waitFor();
    await page.getByText(/reported zero tokens.*: gateway\/fast \(1 answer\)/).waitFor();
    await page.getByText(/^-\$1\.90/).waitFor();
    const latency = page.getByRole('region', { name: 'Latency in use' }).getByRole('row').last();
    expect(await latency.innerText()).toMatch(/500 ms at 16\s+\d\d ms at 16 to 19\s+82% faster/);
    // The figures of seven days are marked while those of one day are loading.
    const { held, release } = await holdAnswers(page, '"nodeEconomics"');
    await page.getByRole('button', { name: '24 hours' }).click();
    await page.waitForURL('**?tab=margin&window=1');
    await held;
    const busy = page.locator('[aria-busy=true]');
    await busy.filter({ hasText: 'Margin per hour' }).waitFor();
    release();
    await until(async () => (await busy.count()) === 0, { what: 'the margin of a day' });
    await page.unrouteAll({ behavior: 'wait' });
    await expectGoodLooks(page, 'admin-node-margin');

    await goInside(page, '/admin/margin?by=name');
    await margins.getByRole('link', { name: free, exact: true }).click();
    await page.getByText('No hourly cost is set. Set one to see the margin.').waitFor();
    await page.getByText('No calls and no benchmarks of this node.').waitFor();
    await page.getByRole('link', { name: 'Set hourly cost' }).click();
    await page.getByLabel('Cost per hour').fill('1.25');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Margin' }).last().click();
    await page.getByText(/\$1\.25 × 0[.\d]* hours/).waitFor();
    await page.getByText('no revenue').waitFor();
  });

  test('features a model for public pages, and counts the latest calls of the leaderboard', async () => {
    const page = await keep('/admin/leaderboard');
    const isFeatured = async () => {
      const models = await suite.api<ModelOutput[]>(admin.token, 'GET', '/api/models');
      return models.find((one) => one.model_public_name === 'gateway/deepseek-reason')!.is_featured;
    };
    const featured = page.getByRole('switch', { name: 'gateway/deepseek-reason is featured' });
    await featured.click();
    await until(async () => (await isFeatured()) && (await featured.isChecked()));
    await featured.click();
    await until(async () => !(await isFeatured()) && !(await featured.isChecked()));
    await page.getByRole('button', { name: 'Recompute' }).click();
    await page.getByText(/Recomputed \d+ hours?\./).waitFor();
    await expectAccessible(page);
  });

  test('other users only see that they have no access, and signed-out users come back after the log-in', async () => {
    const user = await suite.signUp('free');
    const page = await pageOf(browser, suite, user, { expectedErrors: /401|ERR_FAILED/ });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    await page.goto('/admin/jobs');
    await page.getByRole('heading', { name: 'No permission' }).waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('link', { name: 'Nodes' }).count()).toBe(0);
    expect(asked.some((body) => body.includes(documentIdOf('query Viewer')))).toBe(true);
    expect(asked.some((body) => body.includes(documentIdOf('query ScheduledJobs')))).toBe(false);
    await dropSession(page);
    await page.goto('/admin/users?q=nobody');
    await page.waitForURL('**/login?next=*');
    await page.getByLabel('Email').fill(admin.user.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/admin/users?q=nobody');
    await page.getByText('No matching accounts.').waitFor();
  });
});
