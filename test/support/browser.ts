import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CANDIDATES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Chromium of this machine. A run without one says so loudly; CI installs it and must not go without. */
export const chromiumPath: string | undefined = CANDIDATES.find(
  (path) => path !== undefined && existsSync(path),
);

/** `describe` where there is a browser; elsewhere skipped with a word on what is missing, and failed in CI. */
export const describeInBrowser: typeof describe | typeof describe.skip =
  chromiumPath || process.env.CI ? describe : describe.skip;
if (!chromiumPath) {
  process.stderr.write(
    'NO BROWSER: tests in a browser are skipped. Install chromium or set CHROMIUM_PATH.\n',
  );
}

export function launchBrowser(): Promise<Browser> {
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
    ],
  });
}

/** What went wrong on a page: requests to foreign hosts (which are aborted), errors of console and script. */
export interface PageFaults {
  foreign: string[];
  errors: string[];
}

/** A page that may talk to `origin` only. */
export async function guardedPage(
  browser: Browser,
  origin: string,
): Promise<{ page: Page; faults: PageFaults }> {
  const page = await browser.newPage();
  const faults: PageFaults = { foreign: [], errors: [] };
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith(origin) || url.startsWith('data:') || url.startsWith('blob:')) return route.continue();
    faults.foreign.push(url);
    return route.abort();
  });
  page.on('console', (message) => {
    if (message.type() === 'error') faults.errors.push(message.text());
  });
  page.on('pageerror', (error) => faults.errors.push(error.message));
  return { page, faults };
}
