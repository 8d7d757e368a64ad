import { errorTable } from '../../src/errors.js';
import type {
  LeaderboardModelOutput,
  LeaderboardOutput,
} from '../../src/services/leaderboard/leaderboard.outputs.js';
import type { StatusOutput } from '../../src/services/leaderboard/status.outputs.js';
import { rollUpAt } from '../analytics/support.js';
import { operate } from '../graphql/support.js';
import { callModel, callsInEveryOrder, NOW, ORDERS } from '../leaderboard/support.js';
import { call } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { faultsOf } from './html-faults.js';
import { someCalls, textOf } from './support.js';

const BASE = 'https://gateway.example.com';
const DAY_MS = 86_400_000;
const PAGES = [
  '/',
  '/pricing',
  '/leaderboard',
  '/leaderboard/fast',
  '/status',
  '/migrate',
  '/docs',
  '/docs/api',
  '/docs/graphql',
  '/docs/webhooks',
];

/** Pages that nobody is to find, and those in the place of one. */
const OTHERS = [
  '/nothing',
  '/leaderboard/none',
  '/p/none',
  '/mail/stop?token=none',
  '/mail/confirm?token=none',
  '/leaderboard/embed',
  '/leaderboard?window_days=30&sort_by=cost',
];

describe('the public pages', () => {
  // Their figures are those of all accounts, at a time of its own.
  const suite = usePlatform({ own: true, clock: { now: () => NOW }, env: { PUBLIC_BASE_URL: BASE } });
  const get = (path: string, headers: Record<string, string> = {}) =>
    call(suite.url, 'GET', path, { headers: { accept: 'text/html', ...headers } });
  beforeAll(() => someCalls(suite.db));

  test.each(PAGES)('%s is found and shared by its own URL, title, description and picture', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(faultsOf(text)).toEqual([]);
    expect(text).toContain(`<link rel="canonical" href="${BASE}${path}">`);
    const metas = Object.fromEntries(
      [...text.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)].map(([, k, v]) => [k, v]),
    );
    const title = /<title>([^<]{10,70})<\/title>/.exec(text)?.[1];
    expect(metas).toMatchObject({
      'og:title': title,
      'og:url': BASE + path,
      'og:site_name': 'Inference gateway',
    });
    expect(metas.description).toMatch(/^.{50,200}$/);
    expect(metas['og:description']).toBe(metas.description);
    expect(metas['og:image']).toMatch(/^https:\/\/gateway\.example\.com\/assets\/picture-[\w-]+\.png$/);
    const picture = await call(suite.url, 'GET', new URL(metas['og:image']!).pathname);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    const [, data] = /<script type="application\/ld\+json">([\s\S]*?)<\/script>/.exec(text)!;
    expect(JSON.parse(data!)).toMatchObject({ '@context': 'https://schema.org', url: BASE + path });
    expect(text).not.toMatch(
      /<script(?! type="application\/(?:ld\+)?json")[^>]*>[^<]|<style| style="| on\w+="/,
    );
  });

  test.each([...PAGES, '/nothing'])('%s links to the log-in, the sign-up and the dashboard', async (path) => {
    const header = /<header[\s\S]*<\/header>/.exec((await get(path)).text)![0];
    for (const link of ['"/login">Log in', '"/signup">Sign up', '"/dashboard">Dashboard'])
      expect(header).toContain(`<a href=${link}</a>`);
  });

  test('no page can be framed by another site', async () => {
    for (const path of [...PAGES, ...OTHERS]) {
      const { headers } = await get(path);
      expect([path, headers.get('content-security-policy'), headers.get('x-frame-options')]).toEqual([
        path,
        expect.stringContaining("frame-ancestors 'none'"),
        'DENY',
      ]);
    }
  });

  test.each(OTHERS)('%s is valid HTML too', async (path) => {
    const { headers, text } = await get(path);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(faultsOf(text)).toEqual([]);
  });

  test('have distinct titles and descriptions', async () => {
    const texts = await Promise.all(PAGES.map(async (path) => (await get(path)).text));
    for (const part of [/<title>[^<]+/, /name="description" content="[^"]+/]) {
      const found = texts.map((text) => part.exec(text)![0]);
      expect(new Set(found).size).toBe(PAGES.length);
    }
  });

  test('the landing page describes the product, its audience, its prices, and its performance', async () => {
    const text = textOf((await get('/')).text);
    expect(text).toContain('For teams that call OpenAI today.');
    // Of the chat models that it names: the embedding model costs half.
    expect(text).toContain('from $0.10 per million tokens');
    expect(text).toContain('You start with $1.00 of credit.');
    expect(text).toContain(`curl ${BASE}/v1/chat/completions`);
    expect(text).toContain(`baseURL: '${BASE}/v1'`);
    // 1,190 + 44 + 120 calls, of which 44 failed. The 99 of a model that isn’t ranked are no part of it.
    expect(text).toContain('Calls of ranked models 1,354 in the last 7 days');
    expect(text).toContain('Successful 96.75%');
  });

  test('the documentation begins with a first call, and lists every error', async () => {
    const { text } = await get('/docs');
    for (const words of [
      'id="quick-start"',
      '/v1/chat/completions',
      'from openai import OpenAI',
      'href="/graphql/playground"',
    ])
      expect(text).toContain(words);
    for (const [code, { status }] of Object.entries(errorTable))
      expect(text).toContain(`<td><code>${code}</code></td><td>${status}</td>`);
  });

  test('prices are those of the API, to the last digit', async () => {
    const { text } = await get('/pricing');
    const { body } = await call<{ model_public_name: string; output_price_per_million_usd: string }[]>(
      suite.url,
      'GET',
      '/api/models',
    );
    expect(body).toHaveLength(6);
    for (const model of body) expect(text).toContain(`>${model.model_public_name}</a>`);
    const shown = textOf(text);
    expect(shown).toContain('gateway/qwen-pro $0.50 $1.50 32,768 qwen');
    expect(shown).toContain('developer $49.00 $65.00 300 all');
    // (1,200 × 0.5 + 350 × 1.5) ÷ 1,000,000.
    expect(shown).toContain('= $0.00 1125');
  });

  test('the status page shows how long ago its first day was', async () => {
    const { text } = await get('/status');
    const { body } = await call<StatusOutput>(suite.url, 'GET', '/api/status');
    const { days } = body.models[0]!;
    const ago = (Date.parse(days.at(-1)!.date) - Date.parse(days[0]!.date)) / DAY_MS;
    expect(textOf(text)).toContain(`${ago} days ago`);
  });

  test('page, REST and GraphQL have the same figures', async () => {
    const [page, rest, graph] = [
      textOf((await get('/leaderboard')).text),
      (await call<LeaderboardOutput>(suite.url, 'GET', '/api/leaderboard')).body,
      (
        await operate<{ leaderboard: { entries: { modelPublicName: string; p95LatencyMs: number }[] } }>(
          suite.url,
          '{ leaderboard { entries { modelPublicName p95LatencyMs } } }',
        )
      ).body.data!.leaderboard.entries,
    ];
    expect(rest.entries.map((entry) => entry.model_public_name)).toEqual([
      'gateway/fast',
      'gateway/qwen-pro',
    ]);
    for (const [i, entry] of rest.entries.entries()) {
      expect(graph[i]).toEqual({
        modelPublicName: entry.model_public_name,
        p95LatencyMs: entry.p95_latency_ms,
      });
      expect(page).toContain(entry.ranking_score!.toFixed(3));
      expect(page).toContain(`${entry.p95_latency_ms} ms ${entry.p95_low_ms} to ${entry.p95_high_ms}`);
    }
    expect(page).toContain('96.43% 95.25% to 97.33%');
    expect(page).toMatch(/Not enough data .*gateway\/embed/);
  });

  test('a model has a page with its hours, its price, a first call and others', async () => {
    const { status, text } = await get('/leaderboard/fast');
    expect(status).toBe(200);
    const { body } = await call<LeaderboardModelOutput>(suite.url, 'GET', '/api/leaderboard/gateway/fast');
    const shown = textOf(text);
    expect(shown).toContain(`Latency, p95 ${body.p95_latency_ms} ms`);
    expect(shown).toContain('2026-11-21 11:00 UTC 1,234 3.57%');
    // One hour had calls: one bar of them all, and a lower one of its errors.
    const [bars, errors] = ['bars', 'errors'].map(
      (name) =>
        [...text.matchAll(new RegExp(`<path class="${name}" d="([^"]*)"`, 'g'))]
          .at(-1)![1]!
          .match(/v-[\d.]+/g)!,
    );
    expect([bars!.length, errors!.length]).toEqual([1, 1]);
    // 1,234 and 44 of 1,300 calls, in units of 120.
    expect([bars![0], errors![0]]).toEqual(['v-113.9', 'v-4.1']);
    expect(shown).toContain('Plans free, starter, pro, developer, team');
    expect(text).toContain('href="/leaderboard/qwen-fast"');
    expect((await get('/leaderboard/embed')).text).toContain('Not ranked');
    const whole = await get('/leaderboard/gateway/fast');
    expect([whole.status, whole.headers.get('location')]).toEqual([301, '/leaderboard/fast']);
    const none = await get('/leaderboard/%3Cscript%3E');
    expect([none.status, none.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(none.text).toContain('&#60;script&#62;');
    expect(none.text).toContain('href="/leaderboard/qwen-pro"');
  });

  test('are cached, answered with 304, compressed once, and renewed by a roll-up', async () => {
    const first = await get('/leaderboard', { 'accept-encoding': 'br' });
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.headers.get('content-encoding')).toBe('br');
    expect(first.headers.get('vary')).toContain('accept-encoding');
    const etag = first.headers.get('etag')!;
    const again = await get('/leaderboard', { 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get('/leaderboard', { 'accept-encoding': 'identity' })).text).toBe(first.text);

    for (const path of ['/', '/pricing', '/leaderboard/fast', '/docs', '/docs/api']) {
      const known = (await get(path)).headers.get('etag')!;
      expect([path, (await get(path, { 'if-none-match': known })).status]).toEqual([path, 304]);
    }

    await callModel(suite.db, 'gateway/qwen-fast', 150);
    await rollUpAt(suite.db, NOW);
    await until(async () => (await get('/leaderboard', { 'if-none-match': etag })).status === 200, {
      what: 'the roll-up to arrive',
    });
    expect((await get('/leaderboard')).text).toContain('gateway/qwen-fast</a>');
  });

  test("log-in and sign-up are indexed by search engines, pages behind them aren't", async () => {
    const isHidden = async (path: string) =>
      (await get(path)).text.includes('<meta name="robots" content="noindex">');
    for (const path of ['/login', '/signup']) expect(await isHidden(path)).toBe(false);
    for (const path of ['/dashboard', '/dashboard/keys', '/reset-password', '/admin'])
      expect(await isHidden(path)).toBe(true);
  });

  test('robots.txt and sitemap.xml list the public pages, and every model', async () => {
    const robots = await get('/robots.txt');
    expect([robots.status, robots.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    for (const path of ['/dashboard', '/admin', '/api']) expect(robots.text).toContain(`Disallow: ${path}\n`);
    expect(robots.text).toContain(`Sitemap: ${BASE}/sitemap.xml`);
    const { status, headers, text } = await get('/sitemap.xml');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
    const entries = [...text.matchAll(/<url><loc>([^<]+)<\/loc><lastmod>([^<]+)<\/lastmod><\/url>/g)];
    const paths = entries.map(([, url]) => url!.slice(BASE.length));
    expect(paths).toEqual(
      expect.arrayContaining([...PAGES, '/leaderboard/deepseek-reason', '/leaderboard/embed']),
    );
    for (const [, , modified] of entries) expect(Date.parse(modified!)).toBe(NOW);
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });
});

describe('the page of the leaderboard', () => {
  const suite = usePlatform({ own: true, clock: { now: () => NOW } });
  const get = async (path: string) => call(suite.url, 'GET', path);
  beforeAll(async () => {
    await callsInEveryOrder(suite.db);
    await rollUpAt(suite.db, NOW);
  });

  test.each([
    ['', ORDERS.ranking_score, 'Score', 'descending', '7 days'],
    ['?sort_by=p95_latency', ORDERS.p95_latency, 'Latency, p95', 'ascending', '7 days'],
    ['?sort_by=throughput', ORDERS.throughput, 'Tokens per second', 'descending', '7 days'],
    ['?sort_by=cost&window_days=30', ORDERS.cost, 'Output, per 1M tokens', 'ascending', '30 days'],
    // A page shows what it can.
    ['?sort_by=name&window_days=8&utm_source=x', ORDERS.ranking_score, 'Score', 'descending', '7 days'],
  ])('with %p is sorted, as marked in the column', async (query, names, ...expected) => {
    const { text } = await get(`/leaderboard${query}`);
    const rows = [...text.matchAll(/<th scope="row"><a [^>]*>gateway\/([^<]+)/g)].map(([, name]) => name);
    const [, direction, head] = /<th[^>]* aria-sort="(\w+)"><a [^>]*>([^<]+)/.exec(text)!;
    expect(rows).toEqual(names);
    expect([head, direction, /aria-current="true">(\d+ days)/.exec(text)![1]]).toEqual(expected);
  });

  test('links to every order and window', async () => {
    const { text } = await get('/leaderboard');
    const links = [...text.matchAll(/href="(\/leaderboard\?[^"]+)"/g)].map(([, link]) =>
      link!.replaceAll('&amp;', '&'),
    );
    const orders = Object.keys(ORDERS).map((sort) => `/leaderboard?window_days=7&sort_by=${sort}`);
    expect(links).toEqual(
      expect.arrayContaining([...orders, '/leaderboard?window_days=30&sort_by=ranking_score']),
    );
    for (const link of links) expect((await get(link)).status).toBe(200);
  });
});

describe('the public pages while figures can’t be read', () => {
  let now = NOW;
  const suite = usePlatform({ own: true, clock: { now: () => now } });
  const statusOf = async (path: string) => (await call(suite.url, 'GET', path)).status;

  test('show the previous version; a page that nobody has opened yet is an error', async () => {
    await someCalls(suite.db);
    const before = await Promise.all(['/', '/leaderboard'].map((path) => call(suite.url, 'GET', path)));
    await suite.db.pool.query('alter table model_hours rename to away');
    now += 6 * 60_000;
    for (const [i, path] of ['/', '/leaderboard', '/'].entries()) {
      const { status, text } = await call(suite.url, 'GET', path);
      expect([status, text === before[i % 2]!.text]).toEqual([200, true]);
    }
    expect(await statusOf('/leaderboard?window_days=30')).toBe(500);
    await suite.db.pool.query('alter table away rename to model_hours');
    expect(await statusOf('/leaderboard?window_days=30')).toBe(200);
    expect((await call(suite.url, 'GET', '/leaderboard')).text).toContain('2026-11-21 12:36 UTC');
  });
});

describe('the public pages of a production', () => {
  const suite = usePlatform({
    own: true,
    clock: { now: () => NOW },
    env: { LEADERBOARD_MIN_ACCOUNTS: '3' },
  });

  test('show nothing about a model that too few accounts use', async () => {
    await someCalls(suite.db);
    const [board, model, landing] = await Promise.all(
      ['/leaderboard', '/leaderboard/fast', '/'].map(async (path) =>
        textOf((await call(suite.url, 'GET', path)).text),
      ),
    );
    expect(board).toContain('No model is ranked yet.');
    expect(board).toContain('at least 100 calls from at least 3 accounts');
    expect(model).toContain('Not ranked: ranked models have at least 100 calls from at least 3 accounts');
    for (const text of [board!, model!, landing!]) expect(text).not.toContain('1,234');
    expect(landing).toContain('No model has enough calls in the last 7 days to be ranked.');
  });
});
