import { createClient as createSocket } from 'graphql-ws';
import { Client, cacheExchange, fetchExchange, makeOperation, mapExchange, subscriptionExchange } from 'urql';
import { connectionLost, connectionOpened, noteAnswer, noteMessage } from '../freshness';
import { isOfOther, isSignedOut } from './errors';
import { fetchOrTake } from './first-question';
import { inSlices } from './in-slices';
import { keepKnown } from './keep-known';
import { createLasting } from './lasting';
import { refreshOvertaken } from './refresh-overtaken';

const ENDPOINT = '/graphql';
/** How long an unused socket stays open for the next page. */
const IDLE_SOCKET_MS = 5_000;
const PING_MS = 20_000;
/** A server that doesn't answer a ping within this is away, even if the connection looks open. */
const PONG_MS = 5_000;
/**
 * A change between the first answers of a page and the start of its subscriptions reaches neither. So the page asks once
 * more, but not while its first answers are still on their way.
 */
const FIRST_ANSWERS_MS = 3_000;
/**
 * When the socket is there again, subscriptions are only being sent: what changes between an answer and their start would
 * reach neither. So the page asks once they have begun.
 */
const BEGUN_MS = 500;
/** How the server closes a socket whose session has ended. */
const SESSION_ENDED = 4403;

/** Replaces an answer that the page must not see. The page reloads, so its readers get nothing else. */
const KEPT_BACK = new Promise<never>(() => undefined);

/** Context of the query that asks whether anybody is signed in: a refusal is expected. */
export const SESSION_PROBE = { sessionProbe: true };

const SAME_ORIGIN = { credentials: 'same-origin' } as const;

/**
 * Context of the forms before the log-in. They show no account, though this client may have seen one whose session has ended:
 * the account is the one named in the form.
 */
export const AS_NOBODY = { fetchOptions: SAME_ORIGIN };

/** A document of the build holds its id and nothing to send; without definitions urql sends the id. */
const byId = mapExchange({
  onOperation: (operation) =>
    makeOperation(operation.kind, { ...operation, query: { ...operation.query, definitions: [] } }),
});

let live: { terminate(): void } | undefined;
// A browser that is offline keeps its connections open.
addEventListener('offline', () => live?.terminate());

interface SessionListeners {
  onDoubt(): void;
  onReturn(wasLost: boolean): void;
  onOther(shownAccount: string | undefined, isMutation: boolean): void;
}

/**
 * The client of one session: its cache must not outlive it. The cookie says who asks, so that only documents of the
 * build are sent, by their id and without their text (web/tools/documents.mjs). Each request names the account that the page
 * shows: the server refuses it when the cookie names another by now.
 * @param onDoubt is called when the server no longer accepts the session.
 * @param onReturn is called after a reconnection (`wasLost`), and a while after the first connection: a change may have been missed.
 * @param onOther is called with the account that the page shows, and whether a mutation was refused, when the server refuses
 *   the account or answers for another one: the cookie was replaced in another tab. The page never sees that answer.
 */
export function createGraphqlClient({ onDoubt, onReturn, onOther }: SessionListeners): Client {
  let account: string | undefined;
  let isReturn = false;
  let pongTimer: number | undefined;
  const socket = createSocket({
    url: new URL(ENDPOINT, location.href.replace(/^http/, 'ws')).href,
    lazyCloseTimeout: IDLE_SOCKET_MS,
    keepAlive: PING_MS,
    retryAttempts: 0,
    connectionParams: () => ({ accountId: account }),
    on: {
      message: noteMessage,
      ping: (received) => {
        if (!received) pongTimer = window.setTimeout(() => socket.terminate(), PONG_MS);
      },
      pong: (received) => {
        if (received) window.clearTimeout(pongTimer);
      },
      closed: (event) => {
        window.clearTimeout(pongTimer);
        // Also after a connection that never opened: changes may have been missed since the page was loaded.
        isReturn = true;
        if ((event as CloseEvent).code === SESSION_ENDED) onDoubt();
      },
    },
  });
  live = socket;
  const subscribe = createLasting(socket, {
    onReady() {
      connectionOpened();
      setTimeout(onReturn, isReturn ? BEGUN_MS : FIRST_ANSWERS_MS, isReturn);
    },
    onLost() {
      // The server may close the socket of a session only after the next one has begun.
      if (live === socket) connectionLost();
      isReturn = true;
    },
  });
  const client: Client = new Client({
    url: ENDPOINT,
    preferGetMethod: false,
    fetch: fetchOrTake,
    fetchOptions: () => ({
      ...SAME_ORIGIN,
      ...(account !== undefined && { headers: { 'x-gateway-account': account } }),
    }),
    exchanges: [
      inSlices,
      keepKnown(),
      cacheExchange,
      refreshOvertaken((query) =>
        client.reexecuteOperation(
          makeOperation(query.kind, query, { ...query.context, requestPolicy: 'network-only' }),
        ),
      ),
      mapExchange({
        onResult({ data, error, operation }) {
          if (!error?.networkError) noteAnswer();
          const answered = (data as { viewer?: { id?: string } | null } | undefined)?.viewer?.id;
          account ??= answered;
          const isRefused = isOfOther(error);
          if (!isRefused && (answered === undefined || answered === account)) return undefined;
          onOther(account, isRefused && operation.kind === 'mutation');
          // The page shows the former account until it reloads: it must not mix in data of the other.
          return KEPT_BACK;
        },
        onError(error, { context }) {
          if (isSignedOut(error) && !context.sessionProbe) onDoubt();
        },
      }),
      byId,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ documentId, variables }) => ({
          subscribe: (sink) => ({
            // The protocol requires a query; the id is sent as an extension.
            unsubscribe: subscribe({ query: '', variables, extensions: { documentId } }, sink),
          }),
        }),
      }),
    ],
  });
  return client;
}
