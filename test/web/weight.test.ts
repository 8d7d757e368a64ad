import { describeInBrowser, useBrowser } from '../support/browser.js';
import { useProduct } from '../support/product-suite.js';
import { pageOf } from './dashboard.js';

/** What a visitor downloads and sees before anything works. Counted, not timed: times are in docs/decisions/0122. */
describeInBrowser('the weight of the pages', () => {
  const browser = useBrowser();
  const suite = useProduct();

  /** Shifts that nobody caused, and what the policy has refused. */
  const WATCH = `
    window.shifts = 0;
    window.refused = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts += value;
    }).observe({ type: 'layout-shift', buffered: true });
    document.addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) =>
      window.refused.push(violatedDirective + ' ' + blockedURI));`;

  /** Compressed bytes of a page with all that it is made of, and what the first paint waits for. */
  const WEIGHED = `(() => {
    const files = performance.getEntriesByType('resource');
    const [document] = performance.getEntriesByType('navigation');
    return {
      bytes: files.reduce((sum, file) => sum + file.encodedBodySize, document.encodedBodySize),
      blocking: files.filter((file) => file.renderBlockingStatus === 'blocking').map(({ name }) => name),
    };
  })()`;

  /** Each takes milliseconds to make, on a phone ten. */
  const COUNT_FORMATS = `
    window.formats = [];
    for (const name of ['DateTimeFormat', 'NumberFormat', 'RelativeTimeFormat', 'PluralRules', 'Collator']) {
      const count = () => void window.formats.push(name);
      Intl[name] = new Proxy(Intl[name], {
        construct: (format, words) => (count(), Reflect.construct(format, words)),
        apply: (format, self, words) => (count(), Reflect.apply(format, self, words)),
      });
    }`;

  test('every page comes in few requests, asks once who is there, and neither shifts nor tries to run text', async () => {
    const user = await suite.signUp('free');
    const page = await pageOf(browser, suite, user);
    await page.addInitScript(WATCH);
    // Its socket never stands: what is asked once more when it stands late isn't counted.
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
      // At 400 kbit/s and 400 ms: four round trips and these bytes are six seconds; the outline waits for nothing.
      const most = ['/dashboard', '/dashboard/usage', '/docs/graphql'].includes(path) ? 195_000 : 240_000;
      expect([path, bytes < most]).toEqual([path, true]);
      if (path.startsWith('/dashboard')) {
        expect([path, blocking]).toEqual([path, []]);
        expect([path, own.filter(({ url }) => url.includes('.css'))]).toEqual([path, [expect.anything()]]);
      }
      // A chart brings a library with it: only a page that draws one loads it.
      expect([path, own.some(({ url }) => url.includes('bar-chart'))]).toEqual([path, false]);
      const bodies = own.flatMap(({ body }) => body ?? []).map((body) => JSON.parse(body) as object);
      // One document may be asked for two windows.
      const documents = bodies.map((body) => JSON.stringify(body));
      expect([path, documents.toSorted()]).toEqual([path, [...new Set(documents)].sort()]);
      const seen = await page.evaluate<{ shifts: number; refused: string[] }>(
        '({ shifts: window.shifts, refused: window.refused })',
      );
      expect([path, seen.shifts <= 0.02, seen.refused]).toEqual([path, true, []]);
    }
  });

  test('the scripts run one after the other, each in a task of its own, and make no format that the page has no use for', async () => {
    const text = await (await fetch(`${suite.url}/login`)).text();
    // A script that runs by itself would run all that it imports with it.
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

  test('the outline stands in the document with the title of the page, and what the page at its address needs is asked for at once', async () => {
    const text = await (await fetch(`${suite.url}/dashboard/keys?sort=name`)).text();
    expect(text).toContain('<div class="shell">');
    // Its title and what stands below it are there before any script; once the page is there, they stand in it alone.
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
    // Styles are behind the outline: it waits for none of them.
    const styles = text.indexOf('rel="stylesheet"');
    expect([styles > text.indexOf('class="shell"'), styles < text.indexOf('id="root"')]).toEqual([
      true,
      true,
    ]);
  });
});
