import { createClient as createSocket } from 'graphql-ws';
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from 'urql';

const ENDPOINT = '/graphql';
/** A socket that nobody uses any more stays for the next page. */
const IDLE_SOCKET_MS = 5_000;
const PING_MS = 20_000;

/**
 * The client of one session: its cache must not outlive it. The cookie says who asks, so that only documents of the
 * build are sent, by their id and without their text (web/tools/documents.mjs).
 */
export function createGraphqlClient(): Client {
  const socket = createSocket({
    url: new URL(ENDPOINT, location.href.replace(/^http/, 'ws')).href,
    lazyCloseTimeout: IDLE_SOCKET_MS,
    keepAlive: PING_MS,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
  });
  return new Client({
    url: ENDPOINT,
    preferGetMethod: false,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ documentId, variables }) => ({
          subscribe: (sink) => ({
            // The protocol wants a query; the id stands beside it.
            unsubscribe: socket.subscribe({ query: '', variables, extensions: { documentId } }, sink),
          }),
        }),
      }),
    ],
  });
}
