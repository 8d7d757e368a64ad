import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from 'playwright-core';
import { until } from '../support/until.js';

/** A customer's site: pages by their paths, as a server of its own with a host name of its own. */
export interface CustomerSite {
  url: string;
  /** Sets the page at a path, and its headers. */
  page(path: string, body: string, headers?: Record<string, string>): string;
  close(): Promise<void>;
}

/** Listens on `localhost`, where the product has `127.0.0.1`: to a browser these are two sites. */
export async function startCustomerSite(): Promise<CustomerSite> {
  const pages = new Map<string, { body: string; headers: Record<string, string> }>();
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    if (!page) {
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers });
    response.end(`<!doctype html><html lang="en"><title>A shop</title><h1>A shop</h1>${page.body}</html>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    page(path, body, headers = {}) {
      pages.set(path, { body, headers });
      return url + path;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The script tag of a widget. */
export const tagOf = (product: string, key: string, attributes = ''): string =>
  `<script src="${product}/widget/v1.js" data-pr-widget="${key}" ${attributes} async></script>`;

/** Whether the bubble is there, in the corner. Its shadow root is closed: only the place tells. */
export const hasBubble = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(
    'Boolean(document.elementFromPoint(innerWidth - 48, innerHeight - 48)?.matches("body > div:last-of-type, html > body ~ div"))',
  );

/** Clicks the bubble. */
export async function clickBubble(page: Page): Promise<void> {
  await until(() => hasBubble(page), { what: 'the bubble' });
  const { width, height } = page.viewportSize()!;
  await page.mouse.click(width - 48, height - 48);
}

/** The frame of the chat in a page. It may still be loading. */
export async function frameIn(page: Page): Promise<Frame> {
  let frame: Frame | undefined;
  await until(
    () => {
      frame = page.frames().find((one) => one.url().includes('/widget/frame/'));
      return frame !== undefined;
    },
    { what: 'the frame of the chat' },
  );
  return frame!;
}

/** The chat in a page, once it takes messages. */
export async function chatIn(page: Page): Promise<Frame> {
  const frame = await frameIn(page);
  await takesMessages(frame);
  return frame;
}

/** Waits until a chat takes messages: it has loaded, and no answer is in progress. */
export const takesMessages = (chat: Frame): Promise<void> =>
  chat.locator('#send[aria-disabled="false"]').waitFor();

/** Waits until the page has kept so much of the conversation, with which the next page goes on. */
export async function keeps(page: Page, part: string): Promise<void> {
  const has = `Object.values(sessionStorage).some((kept) => kept.includes(${JSON.stringify(part)}))`;
  await until(() => page.evaluate<boolean>(has), { what: `the page to keep ${part}` });
}

/** Writes a message and sends it. */
export async function write(chat: Frame, text: string): Promise<void> {
  await chat.locator('#box').fill(text);
  await chat.locator('#box').press('Enter');
}
