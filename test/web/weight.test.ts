import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { pageOf } from './dashboard.js';

/** The first load of a visitor. Counted, not timed: times are in docs/decisions/0122. */
describeInBrowser('the weight of the pages', () => {
  const browser = useBrowser();
  const suite = useProduct();

  /** Layout shifts without input, and refusals of the policy. */
  const WATCH = `
    window.shifts = 0;
    window.refused = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts += value;
    }).observe({ type: 'layout-shift', buffered: true });
    document.addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) =>
      window.refused.push(violatedDirective + ' ' + blockedURI));`;

  /** Compressed bytes of a page with all its files, and of those before the first paint. */
  const WEIGHED = `(() => {
    const files = performance.getEntriesByType('resource');
    const [document] = performance.getEntriesByType('navigation');
    return {
      bytes: files.reduce((sum, file) => sum + file.encodedBodySize, document.encodedBodySize),
      blocking: files.filter((file) => file.renderBlockingStatus === 'blocking').map(({ name }) => name),
    };
  })()`;

  /** Formats, each of which takes milliseconds to make, on a phone ten. */
  const COUNT_FORMATS = `
    window.formats = [];
    for (const name of ['DateTimeFormat', 'NumberFormat', 'RelativeTimeFormat', 'PluralRules', 'Collator']) {
      const count = () => void window.formats.push(name);
      Intl[name] = new Proxy(Intl[name], {
        construct: (format, words) => (count(), Reflect.construct(format, words)),
        apply: (format, self, words) => (count(), Reflect.apply(format, self, words)),
      });
    }`;

  test('every page loads with few requests, queries the session once, and neither shifts nor evaluates text', async () => {
    const user = await suite.signUp('free');
    const page = await pageOf(browser, suite, user);
    await page.addInitScript(WATCH);
    // The socket never opens, so that the refresh after its opening isn't counted.
    await page.routeWebSocket(/graphql/, () => undefined);
    let asked: { url: string; body: string | null }[] = [];
    page.on('request', (request) => asked.push({ url: request.url(), body: request.postData() }));
    for (const [path, heading] of [
      ['/dashboard', 'Overview'],
      ['/dashboard/keys', 'API keys'],
      ['/dashboard/usage', 'Usage'],
      ['/dashboard/billing', 'Billing'],
      ['/dashboard/alerts', 'Alerts'],
      ['/dashboard/prompts', 'Prompts'],
      ['/dashboard/playground', 'Playground'],
      ['/dashboard/models', 'Models'],
      ['/dashboard/profile', 'Profile'],
      ['/docs/graphql', 'GraphQL'],
    ] as const) {
      asked = [];
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.waitForLoadState('networkidle');
      const own = asked.filter(({ url }) => !url.startsWith('data:'));
      expect([path, own.length <= 14]).toEqual([path, true]);
      const { bytes, blocking } = await page.evaluate<{ bytes: number; blocking: string[] }>(WEIGHED);
      // At 400 kbit/s and 400 ms, four round trips and these bytes take six seconds; the outline needs no more requests.
      const most = ['/dashboard', '/dashboard/usage', '/docs/graphql'].includes(path) ? 195_000 : 240_000;
      expect([path, bytes < most]).toEqual([path, true]);
      if (path.startsWith('/dashboard')) {
        expect([path, blocking]).toEqual([path, []]);
        expect([path, own.filter(({ url }) => url.includes('.css'))]).toEqual([path, [expect.anything()]]);
      }
      // Only pages with a chart load its library.
      expect([path, own.some(({ url }) => url.includes('bar-chart'))]).toEqual([path, false]);
      const bodies = own.flatMap(({ body }) => body ?? []).map((body) => JSON.parse(body) as object);
      // One document may be requested for two windows.
      const documents = bodies.map((body) => JSON.stringify(body));
      expect([path, documents.toSorted()]).toEqual([path, [...new Set(documents)].sort()]);
      const seen = await page.evaluate<{ shifts: number; refused: string[] }>(
        '({ shifts: window.shifts, refused: window.refused })',
      );
      expect([path, seen.shifts <= 0.02, seen.refused]).toEqual([path, true, []]);
    }
  });

  test('scripts run one after the other, each in its own task, and only create formats that the page uses', async () => {
    const text = await (await fetch(`${suite.url}/login`)).text();
    // A script that is started by the browser would run all its imports in one task.
    expect(text).not.toMatch(/<script[^>]* src=/);
    const inTurns =
      /for\(const url of (\[.*?\])\)\{await import\(url\);await new Promise\(done=>setTimeout\(done\)\)/;
    const urls = JSON.parse(inTurns.exec(text)![1]!) as string[];
    expect(urls.map((url) => /^\/assets\/(\w+)-/.exec(url)?.[1])).toEqual(['core', 'shared', 'app']);
    const page = await browser.open(suite.url);
    await page.addInitScript(COUNT_FORMATS);
    await page.goto('/login');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate<string[]>('window.formats')).toEqual([]);
  });

  test('the document contains the outline with the page’s title, and the scripts of its page are requested at once', async () => {
    const text = await (await fetch(`${suite.url}/dashboard/keys?sort=name`)).text();
    expect(text).toContain('<div class="shell">');
    // Title and lead are there before any script; once the page is rendered, only the page has them.
    expect(text).toMatch(/<div class="shell-title">API keys<\/div><div class="shell-lead">Keys authenticate/);
    const page = await pageOf(browser, suite, await suite.signUp('free'));
    await page.goto('/dashboard/keys');
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.locator('.shell').waitFor({ state: 'detached' });
    await page.getByText('Keys authenticate').waitFor();
    const preloaded = [
      ...text.matchAll(
        /<link rel="modulepreload" fetchpriority="low" crossorigin href="([^"]+)" nonce="[^"]+">/g,
      ),
    ];
    expect(preloaded.map(([, url]) => url)).toContainEqual(expect.stringContaining('/assets/keys-page-'));
    expect(text).not.toContain('/assets/overview-page-');
    // Styles come after the outline, which doesn't wait for them.
    const styles = text.indexOf('rel="stylesheet"');
    expect([styles > text.indexOf('class="shell"'), styles < text.indexOf('id="root"')]).toEqual([
      true,
      true,
    ]);
  });
});
