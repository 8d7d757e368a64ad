import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

const path = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((candidate) => candidate && existsSync(candidate));

export const NO_BROWSER = path ? undefined : 'There was no Chromium: install it or set CHROMIUM_PATH.';

/** Chromium of this machine, which finds nobody but this machine. */
export const startBrowser = () =>
  puppeteer.launch({
    executablePath: path,
    headless: 'shell',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
