import type { Fetcher, FetcherOpts } from '@graphiql/toolkit';
import { type ExecutionResult, getOperationAST, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { createClient } from 'graphql-ws';
import { currentSession, sessionIn, setSession } from './session';

const ENDPOINT = '/graphql';

type Params = Parameters<Fetcher>[0];

/** The headers of the tab, names in lower case; without an Authorization the token of the session is added. */
function headersOf(options: FetcherOpts | undefined): Record<string, string> {
  const typed = Object.entries(options?.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  const session = currentSession();
  return { ...(session && { authorization: `Bearer ${session.token}` }), ...Object.fromEntries(typed) };
}

/**
 * The operation to run. Right after a change of tabs, GraphiQL still names the one of the previous tab; in a document with a single
 * operation, that one is run. Undefined for a document in which the server has to find the error.
 */
function operationOf({ query, operationName }: Params): OperationDefinitionNode | undefined {
  try {
    const document = parse(query);
    return getOperationAST(document, operationName) ?? getOperationAST(document) ?? undefined;
  } catch {
    return undefined;
  }
}

async function post(params: Params, headers: Record<string, string>): Promise<ExecutionResult> {
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    // Requests use the token that is shown here, never a dashboard session of this browser.
    credentials: 'omit',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json', ...headers },
    body: JSON.stringify(params),
  });
  const text = await response.text();
  try {
    return JSON.parse(text) as ExecutionResult;
  } catch {
    throw new Error(`The server answered ${response.status} ${response.statusText}`);
  }
}

/** Mutations that end the session whose token was sent. */
const ENDINGS = new Set(['logout', 'deleteAccount']);

const endsSession = (operation: OperationDefinitionNode | undefined, { data }: ExecutionResult): boolean =>
  operation?.operation === 'mutation' &&
  operation.selectionSet.selections.some(
    (node) =>
      node.kind === Kind.FIELD &&
      ENDINGS.has(node.name.value) &&
      data?.[(node.alias ?? node.name).value] != null,
  );

/** One socket per subscription, opened with the token of its tab; it closes when the subscription is stopped. */
async function* subscribe(params: Params, { authorization }: Record<string, string>) {
  const client = createClient({
    url: new URL(ENDPOINT, location.href.replace(/^http/, 'ws')).href,
    // As with `post`. The browser sends the cookie anyway; the server ignores it.
    connectionParams: { credentials: 'omit', ...(authorization !== undefined && { authorization }) },
    retryAttempts: 0,
  });
  try {
    yield* client.iterate({ ...params, operationName: params.operationName ?? null });
  } catch (error) {
    if (!(error instanceof CloseEvent)) throw error;
    throw new Error(`The connection was closed: ${error.reason || 'no reason given'} (${error.code})`);
  } finally {
    await client.dispose();
  }
}

/** Sends what GraphiQL runs: subscriptions over WebSocket, everything else by POST. */
export const fetcher: Fetcher = async (asked, options) => {
  const headers = headersOf(options);
  const operation = operationOf(asked);
  const params = operation ? { ...asked, operationName: operation.name?.value ?? null } : asked;
  if (operation?.operation === 'subscription')
    return subscribe(params, headers) as AsyncIterable<ExecutionResult>;
  const result = await post(params, headers);
  const session = sessionIn(result);
  if (session) setSession(session);
  else if (endsSession(operation, result) && headers.authorization === `Bearer ${currentSession()?.token}`)
    setSession(null);
  return result;
};
