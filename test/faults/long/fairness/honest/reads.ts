import { operate } from '../../../../graphql/support.js';
import { PASSWORD } from '../../../../support/api.js';
import { from } from '../accounts.js';
import type { Account } from '../messages.js';
import { ask, evenly, timed, type Watch } from './watch.js';

const PER_SECOND = { me: 5, page: 1, login: 1, usage: 4 };
const USAGE = `{ viewer { balanceUsd usageEvents(first: 50) {
  nodes { id createdAt modelPublicName costUsd inputTokens outputTokens latencyMs status } pageInfo { endCursor hasNextPage } } } }`;

/** Session look-ups, pages, log-ins, and a page of usage. */
export const honestReads = (watch: Watch): Promise<unknown>[] => [
  evenly(watch, PER_SECOND.me, async (account) => {
    await timed(watch, 'GET /api/auth/me', () => ask(watch, account, 'GET', '/api/auth/me'));
  }),
  evenly(watch, PER_SECOND.page, async (account) => {
    await timed(watch, 'page of the dashboard with its assets', () => loadPage(watch, account));
  }),
  evenly(watch, PER_SECOND.login, async ({ address, email }) => {
    const body = { email, password: PASSWORD };
    await timed(watch, 'log-in', () =>
      ask(watch, { address, token: '' }, 'POST', '/api/auth/login', { body }),
    );
  }),
  evenly(watch, PER_SECOND.usage, async ({ token, address }) => {
    await timed(watch, 'GraphQL page of usage', async () => {
      const { status, body, text } = await operate(watch.url, USAGE, { token, headers: from(address) });
      if (status !== 200 || body.errors) throw new Error(`a page of usage answered ${status}: ${text}`);
    });
  }),
];

/** The document, and then at once the files that it refers to. */
async function loadPage(watch: Watch, account: Account): Promise<void> {
  const headers = { 'accept-encoding': 'gzip, br' };
  const { text } = await ask(watch, account, 'GET', '/dashboard', { headers });
  const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  if (assets.length === 0) throw new Error('the page of the dashboard names no assets');
  await Promise.all(assets.map((path) => ask(watch, account, 'GET', path, { headers })));
}
