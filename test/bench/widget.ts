import { performance } from 'node:perf_hooks';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../support/browser.js';
import { until } from '../support/until.js';
import { chatIn, clickBubble, hasBubble, startCustomerSite, tagOf } from '../widgets/site.js';
import { quantile } from './measure.js';

/**
 * `node build/test/bench/widget.js http://localhost:8080 [rounds]`: what the chat widget of a running product takes of a page,
 * how soon it is there after a click, when its first token comes beside that of `/v1`, and how soon changes are effective. It
 * signs up an account of its own. The goals are 10 ms of the main thread before the first click, 100 ms to the greeting, 10 ms more
 * than `/v1` to the first token, and 250 ms for a change.
 */
const [base = 'http://localhost:8080', rounds = '20'] = process.argv.slice(2);
const ROUNDS = Number(rounds);

const api = async <T>(method: string, path: string, body?: object, token?: string): Promise<T> => {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const account = {
  email: `bench-${Date.now()}@example.com`,
  password: 'correct horse battery',
  name: 'Bench',
};
const { access_token: token } = await api<{ access_token: string }>('POST', '/api/auth/signup', account);
const { key } = await api<{ key: string }>('POST', '/api/keys', { name: 'bench' }, token);
const limits = { rate_limit_per_minute: 1_000, daily_message_limit: 10_000 };
const widget = await api<{ id: string; public_key: string }>(
  'POST',
  '/api/widgets',
  { name: 'Bench', model_public_name: 'gateway/fast', ...limits },
  token,
);

const say = (publicKey: string): Promise<Response> =>
  fetch(`${base}/api/widget/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      public_key: publicKey,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
const call = (): Promise<Response> =>
  fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: 'gateway/fast',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });

async function firstByte(ask: () => Promise<Response>): Promise<number> {
  const began = performance.now();
  const response = await ask();
  const reader = response.body!.getReader();
  await reader.read();
  const took = performance.now() - began;
  while (!(await reader.read()).done);
  if (!response.ok) throw new Error(`a stream answered ${response.status}`);
  return took;
}

/** Milliseconds of script, style and layout since the page began. */
async function mainThread(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  const spent = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];
  return metrics.reduce((sum, { name, value }) => sum + (spent.includes(name) ? value * 1_000 : 0), 0);
}

async function opened(
  browser: Browser,
  url: string,
  visit: (page: Page, session: CDPSession) => Promise<number>,
) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await page.addInitScript(`
    addEventListener('pointerdown', () => { window.clickedAt = Date.now(); }, true);
    if (location.pathname.startsWith('/widget/frame/')) new MutationObserver((_records, observer) => {
      if (!document.querySelector('.turn')) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => { window.greetedAt = Date.now(); }));
    }).observe(document, { childList: true, subtree: true });`);
  await page.goto(url);
  const result = await visit(page, session);
  await context.close();
  return result;
}

const times = async (run: () => Promise<number>): Promise<number[]> => {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) found.push(await run());
  return found.toSorted((a, b) => a - b);
};
const show = (what: string, found: number[], goal: string): void => {
  const [p50, p90] = [0.5, 0.9].map((q) => quantile(found, q).toFixed(1));
  process.stdout.write(`${what}: p50 ${p50} ms, p90 ${p90} ms (goal: ${goal})\n`);
};

/** Time from the response to a change until a chat applies it. */
async function effective(change: () => Promise<string>): Promise<number> {
  const old = await change();
  const began = performance.now();
  for (;;) {
    const response = await say(old);
    await response.arrayBuffer();
    if (response.status === 404) return performance.now() - began;
  }
}

const site = await startCustomerSite();
const browser = await chromium.launch({
  executablePath: chromiumPath!,
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const bare = site.page('/bare', '');
  const withWidget = site.page('/widget', tagOf(base, widget.public_key));
  const settled = async (page: Page, session: CDPSession): Promise<number> => {
    await page.waitForLoadState('networkidle');
    return mainThread(session);
  };
  const without = quantile(await times(() => opened(browser, bare, settled)), 0.5);
  const own = await times(
    async () =>
      (await opened(browser, withWidget, async (page, session) => {
        await until(() => page.evaluate<boolean>('Boolean(window.GatewayChat)'), { what: 'the loader' });
        return settled(page, session);
      })) - without,
  );
  show('main thread before the first click', own, '10 ms');
  const greeted = await times(() =>
    opened(browser, withWidget, async (page) => {
      await until(() => hasBubble(page), { what: 'the bubble' });
      await clickBubble(page);
      const chat = await chatIn(page);
      await until(() => chat.evaluate<boolean>('Boolean(window.greetedAt)'), { what: 'the greeting' });
      return (await chat.evaluate<number>('greetedAt')) - (await page.evaluate<number>('clickedAt'));
    }),
  );
  show('click to greeting', greeted, '100 ms');
} finally {
  await browser.close();
  await site.close();
}
await firstByte(call);
await firstByte(() => say(widget.public_key));
show('first token of /v1', await times(() => firstByte(call)), 'none');
show('first token of the widget', await times(() => firstByte(() => say(widget.public_key))), '/v1 + 10 ms');
let current = widget.public_key;
const rotations = await times(() =>
  effective(async () => {
    const old = current;
    const path = `/api/widgets/${widget.id}/rotate-key`;
    current = (await api<{ public_key: string }>('POST', path, {}, token)).public_key;
    return old;
  }),
);
show('rotated key refused', rotations, '250 ms');
