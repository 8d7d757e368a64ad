import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { onFailure } from './jest/on-failure.js';
import { oncePerWorker } from './once-per-worker.js';

const CANDIDATES = [
  process.env.CHROMIUM_PATH,
  // Chromium without its windows: the same engine for two thirds of the processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  // One that playwright itself has installed.
  chromium.executablePath(),
];

/** Chromium of this machine. A run without one says so loudly; CI installs it and must not go without. */
export const chromiumPath: string | undefined = CANDIDATES.find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

/** `describe` where there is a browser; elsewhere skipped with a word on what is missing, and failed in CI. */
export function describeInBrowser(name: string, body: () => void): void {
  (chromiumPath || process.env.CI ? describe : describe.skip)(name, body);
}
if (!chromiumPath) {
  process.stderr.write(
    'NO BROWSER: tests in a browser are skipped. Install chromium or set CHROMIUM_PATH.\n',
  );
}

/** What Playwright switches off as far as it is about pages; a switch that is given again replaces its own. */
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
 * A context is a window of Chromium, though nobody sees it: its address bar brings two pages in a process of their own, and
 * another process is kept in reserve. Together they take as much as the page under test.
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
      // The empty page that a context begins with and the page under test share a process: one start less for each.
      '--renderer-process-limit=1',
      `--disable-features=${[...PLAYWRIGHT_DISABLES, ...UNSEEN_FEATURES]}`,
      // Nobody but this machine is found: what a page asks of others fails, and is a fault of the test's.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

/** The browser that test files share. Chromium may end by itself on a busy machine: the next file gets another one. */
async function sharedBrowser(): Promise<Browser> {
  for (let number = 1; ; number++) {
    const launched = await oncePerWorker(`browser ${number}`, launchBrowser, (one) => one.close());
    if (launched.isConnected()) return launched;
    process.stderr.write('The browser that test files share has ended.\n');
  }
}

/** What went wrong on a page: requests to foreign hosts, errors of console and script. */
export interface PageFaults {
  foreign: string[];
  errors: string[];
}

/** Faults of a page, and those that its test causes on purpose. */
interface Watched extends PageFaults {
  expectedErrors: RegExp | undefined;
}

export interface PageOptions extends BrowserContextOptions {
  /** Console errors that the test causes on purpose, such as the browser's word on a 401. */
  expectedErrors?: RegExp;
  /** Addresses beside the page's own that it may talk to. */
  others?: readonly string[];
  /** The dashboard fetches its other pages too, when it is idle. Otherwise the visitor saves data: it fetches none of them. */
  fetchesAhead?: boolean;
}

const SAVES_DATA = `Object.defineProperty(navigator.connection, 'saveData', { value: true })`;

/** Desktop and phone, the two widths of docs/style.md. */
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

/**
 * Watches a page: only `origin` may be talked to, over HTTP and WebSocket. It looks on, since a browser whose requests
 * are held up one by one keeps nothing: each page would load all of the dashboard anew.
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

/** The requests of a page that have no answer yet. */
function pendingRequests(page: Page): ReadonlySet<Request> {
  const pending = new Set<Request>();
  page.on('request', (request) => pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  return pending;
}

/** Time limit for reading the text of a page. A page that hangs has none. */
const REPORT_MS = 5_000;
const SHOWN_CHARACTERS = 1_500;

/** What a page shows when its test fails, and what it waits for. */
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
   * A page in a browser context of its own, closed after the test. The test fails if the page talked to another host
   * than `origin`, wrote an error to the console or threw one.
   */
  open(origin: string, options?: PageOptions): Promise<Page>;
  /**
   * The page that the first test of a `describe` opens, for those after it as well: loading a page of the dashboard takes seven
   * times the processor time of going to one inside of it. Between tests it loses its routes and permissions and gets its width
   * back; its storage and listeners stay. After a test that failed the next one opens a page of its own.
   * @param goOn takes a page that another test has left to where the next one begins
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

/** How long a test waits for what a page is to show or do. It says that something hangs, not how fast it is. */
const WAIT_MS = 60_000;

/** Pages are slow where two of them share a core. */
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
        // Those that the test has opened beside it.
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
    // What it has written to the console is here once it answers.
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
        // What fades in has no contrast yet: tests see pages as those do who want no motion.
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

/** With `SCREENS=1` (`npm run screens`) every screen is kept in artifacts/screens, to be looked at. */
export const KEEP_SCREENS: boolean = process.env.SCREENS === '1';

/** Keeps how a page looks, where that is asked for: nothing is compared. */
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
