import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { onFailure } from './jest/on-failure.js';
import { oncePerWorker } from './once-per-worker.js';

const CANDIDATES = [
  process.env.CHROMIUM_PATH,
  // Chromium without windows: the same engine for two thirds of the processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  // The browser installed by Playwright.
  chromium.executablePath(),
];

/** Chromium of this machine. A run without one warns loudly; CI must have it. */
export const chromiumPath: string | undefined = CANDIDATES.find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

/** `describe` if there is a browser. Otherwise the tests are skipped with a note on what is missing, and fail in CI. */
export function describeInBrowser(name: string, body: () => void): void {
  (chromiumPath || process.env.CI ? describe : describe.skip)(name, body);
}
if (!chromiumPath) {
  process.stderr.write(
    'NO BROWSER: tests in a browser are skipped. Install chromium or set CHROMIUM_PATH.\n',
  );
}

/** The features of pages that Playwright switches off. A switch given again replaces Playwright's own. */
const PLAYWRIGHT_DISABLES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];
/**
 * Each context is an invisible window of Chromium: its address bar has two pages in a separate process, and
 * another process is kept in reserve. Together they need as much as the page under test.
 */
const UNSEEN_FEATURES = [
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
];

function launchBrowser(): Promise<Browser> {
  if (!chromiumPath) throw new Error('no Chromium: install it or set CHROMIUM_PATH');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-extensions',
      // The initial empty page and the page under test share a process, which saves one start.
      '--renderer-process-limit=1',
      `--disable-features=${[...PLAYWRIGHT_DISABLES, ...UNSEEN_FEATURES]}`,
      // Only this machine is resolved: a page's requests to other hosts fail, and so does the test.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

/** The browser that test files share. If Chromium ends by itself, as on a busy machine, the next file gets another one. */
async function sharedBrowser(): Promise<Browser> {
  for (let number = 1; ; number++) {
    const launched = await oncePerWorker(`browser ${number}`, launchBrowser, (one) => one.close());
    if (launched.isConnected()) return launched;
    process.stderr.write('The browser that test files share has ended.\n');
  }
}

/** Faults of a page: requests to foreign hosts, errors of console and scripts. */
export interface PageFaults {
  foreign: string[];
  errors: string[];
}

/** Faults of a page, and the ones that its test expects. */
interface Watched extends PageFaults {
  expectedErrors: RegExp | undefined;
}

export interface PageOptions extends BrowserContextOptions {
  /** Expected console errors, such as the browser's message about a 401. */
  expectedErrors?: RegExp;
  /** Further addresses that the page may request. */
  others?: readonly string[];
  /** Whether the dashboard prefetches its other pages while idle. Otherwise the visitor saves data, which prevents this. */
  fetchesAhead?: boolean;
}

const SAVES_DATA = `Object.defineProperty(navigator.connection, 'saveData', { value: true })`;

/** Desktop and phone, the two widths of docs/style.md. */
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

/**
 * Watches a page, which may only talk to `origin`, over HTTP and WebSocket. It observes requests instead of intercepting them,
 * because interception disables the browser's cache, and each page would load the whole dashboard again.
 */
function guard(
  page: Page,
  origin: string,
  { expectedErrors, others = [] }: Pick<PageOptions, 'expectedErrors' | 'others'>,
): Watched {
  const faults: Watched = { foreign: [], errors: [], expectedErrors };
  const hosts = [origin, ...others].map((url) => new URL(url).host);
  const isOwn = (url: string): boolean => {
    const { protocol, host: asked } = new URL(url);
    return protocol === 'data:' || protocol === 'blob:' || hosts.includes(asked);
  };
  const error = (text: string): void => {
    if (!faults.expectedErrors?.test(text)) faults.errors.push(text);
  };
  page.on('request', (request) => {
    if (!isOwn(request.url())) faults.foreign.push(request.url());
  });
  page.on('websocket', (socket) => {
    if (!isOwn(socket.url())) faults.foreign.push(socket.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') error(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (thrown) => error(thrown.message));
  return faults;
}

/** The requests of a page without a response yet. */
function pendingRequests(page: Page): ReadonlySet<Request> {
  const pending = new Set<Request>();
  page.on('request', (request) => pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  return pending;
}

/** Time limit for reading the text of a page, which fails on a hanging page. */
const REPORT_MS = 5_000;
const SHOWN_CHARACTERS = 1_500;

/** A page's text at the failure of its test, and its open requests. */
async function pageReport(page: Page, pending?: ReadonlySet<Request>): Promise<string> {
  const shown = await page
    .locator('body')
    .innerText({ timeout: REPORT_MS })
    .catch((error: Error) => error.message);
  const waiting = [...(pending ?? [])].map((request) => `${request.method()} ${request.url()}`);
  return [
    pending
      ? `The test failed on ${page.url()}, which waits for ${waiting.length} requests:`
      : `Beside it is ${page.url()}.`,
    ...waiting,
    'It shows:',
    shown.slice(-SHOWN_CHARACTERS),
    '',
  ].join('\n');
}

export interface TestBrowser {
  /**
   * Opens a page in a separate browser context, closed after the test. The test fails if the page talked to another host
   * than `origin`, wrote an error to the console or threw one.
   */
  open(origin: string, options?: PageOptions): Promise<Page>;
  /**
   * Shares the page of the first test of a `describe` with later tests: loading a page of the dashboard takes seven
   * times the processor time of navigating within it. Between tests, it loses its routes and permissions and gets its width
   * back; its storage and listeners stay. After a failed test, the next one opens a new page.
   * @param goOn Takes a page that another test left to where the next one begins.
   */
  keep(
    open: () => Promise<Page>,
    goOn: (page: Page) => Promise<void>,
    options?: Pick<PageOptions, 'expectedErrors'>,
  ): Promise<Page>;
}

interface OpenPage {
  page: Page;
  faults: Watched;
  pending: ReadonlySet<Request>;
}

/** Makes a page ready for the next test. */
async function reset({ page, faults }: OpenPage): Promise<void> {
  faults.foreign = [];
  faults.errors = [];
  faults.expectedErrors = undefined;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().clearPermissions();
  await page.setViewportSize(WIDE);
}

/** How long a test waits for a page. The limit detects hanging pages, not slow ones. */
const WAIT_MS = 60_000;

/** Pages are slow if two of them share a core. */
const TEST_TIMEOUT_MS = 60_000;

/** A browser for the tests of a `describe`, which all files of the worker share. */
export function useBrowser(): TestBrowser {
  jest.setTimeout(TEST_TIMEOUT_MS);
  let browser: Browser;
  const opened: OpenPage[] = [];
  let kept: OpenPage | undefined;
  let hasFailed = false;
  afterAll(
    onFailure(async () => {
      hasFailed = true;
      for (const { page, pending } of opened) {
        process.stderr.write(await pageReport(page, pending));
        // Further pages of the test.
        for (const other of page.context().pages())
          if (other !== page) process.stderr.write(await pageReport(other));
      }
    }),
  );
  beforeAll(async () => {
    browser = await sharedBrowser();
  }, 60_000);
  afterEach(async () => {
    const done = opened.splice(0);
    const used = kept && done.includes(kept) ? kept : undefined;
    // Its console output has arrived once it responds.
    await used?.page.evaluate('0').catch(() => undefined);
    const isUnfit = used && (hasFailed || used.faults.foreign.length + used.faults.errors.length > 0);
    if (isUnfit) kept = undefined;
    hasFailed = false;
    await Promise.all(done.filter((one) => one !== kept).map(({ page }) => page.context().close()));
    const seen = done.map(({ faults: { foreign, errors } }) => ({ foreign, errors }));
    if (used && !isUnfit) await reset(used);
    expect(seen).toEqual(done.map(() => ({ foreign: [], errors: [] })));
  });
  afterAll(() => kept?.page.context().close());
  return {
    async open(origin, { expectedErrors, others, fetchesAhead = false, ...options } = {}) {
      const context = await browser.newContext({
        baseURL: origin,
        viewport: WIDE,
        // Fading elements have no contrast yet, so tests ask for reduced motion.
        reducedMotion: 'reduce',
        ...options,
      });
      context.setDefaultTimeout(WAIT_MS);
      if (!fetchesAhead) await context.addInitScript(SAVES_DATA);
      const page = await context.newPage();
      const faults = guard(page, origin, { expectedErrors, others });
      opened.push({ page, faults, pending: pendingRequests(page) });
      return page;
    },
    async keep(open, goOn, { expectedErrors } = {}) {
      const former = kept;
      kept = undefined;
      if (former) {
        opened.push(former);
        await goOn(former.page);
        former.faults.expectedErrors = expectedErrors;
        kept = former;
        return former.page;
      }
      const page = await open();
      kept = opened.find((one) => one.page === page);
      return page;
    },
  };
}

/** `SCREENS=1` (`npm run screens`) keeps every screen in artifacts/screens, to look at. */
export const KEEP_SCREENS: boolean = process.env.SCREENS === '1';

/** Keeps a screenshot, if requested. Nothing is compared. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!KEEP_SCREENS) return;
  const folder = join('artifacts', 'screens');
  mkdirSync(folder, { recursive: true });
  const { width } = page.viewportSize() ?? WIDE;
  const scheme = await page.evaluate<string>(
    'document.documentElement.dataset.mantineColorScheme ?? "light"',
  );
  await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
}
