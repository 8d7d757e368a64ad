import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { type ApiAnswer, type ApiRequest, call } from '../support/api.js';

export interface GraphqlError {
  message: string;
  path?: (string | number)[];
  extensions: {
    code: string;
    details?: { field: string; message: string }[];
    retryAfterSeconds?: number;
  };
}

export interface GraphqlAnswer<Data = Record<string, unknown>> {
  data?: Data | null;
  errors?: GraphqlError[];
}

/** What clients of GraphQL ask for: the status then says whether the operation ran. */
const RESPONSE_JSON = 'application/graphql-response+json';

/** One operation over HTTP. */
export function operate<Data = Record<string, unknown>>(
  url: string,
  query: string,
  { variables, headers, ...request }: Omit<ApiRequest, 'body'> & { variables?: Record<string, unknown> } = {},
): Promise<ApiAnswer<GraphqlAnswer<Data>>> {
  return call(url, 'POST', '/graphql', {
    ...request,
    headers: { accept: RESPONSE_JSON, ...headers },
    body: { query, variables },
  });
}

/** Id of the document of the web pages with an operation such as `query Viewer`. Its fragments may stand before it. */
export function documentIdOf(operation: string): string {
  const begins = new RegExp(`(?:^|[\\s}])${operation}\\b`);
  const found = [...loadWebBuild()!.documents].find(([, text]) => begins.test(text));
  if (!found) throw new Error(`the web build has no document "${operation}"`);
  return found[0];
}

/** A document of the web pages with the session cookie, as a page sends it. */
export function operateAsPage<Data = Record<string, unknown>>(
  url: string,
  operation: string,
  { token, ...headers }: { token: string } & Record<string, string>,
): Promise<ApiAnswer<GraphqlAnswer<Data>>> {
  return call(url, 'POST', '/graphql', {
    headers: { cookie: `pr_session=${token}`, ...headers },
    body: { documentId: documentIdOf(operation) },
  });
}

/** The data of an operation that must succeed. */
export async function dataOf<Data = Record<string, unknown>>(
  url: string,
  query: string,
  request: Parameters<typeof operate>[2] = {},
): Promise<Data> {
  const { status, body, text } = await operate<Data>(url, query, request);
  if (status !== 200 || body.errors || !body.data) throw new Error(`answered ${status}: ${text}`);
  return body.data;
}

/** The codes of an answer's errors. */
export const codesOf = ({ body }: ApiAnswer<GraphqlAnswer>): string[] =>
  (body.errors ?? []).map(({ extensions }) => extensions.code);

export const socketUrl = (url: string): string => `${url.replace(/^http/, 'ws')}/graphql`;

export interface SocketOptions {
  token?: string;
  headers?: Record<string, string>;
}

/** The real client of graphql-ws, as a script would use it. It doesn't come back by itself. */
export function socketClient(url: string, { token, headers = {} }: SocketOptions = {}): Client {
  return createClient({
    url: socketUrl(url),
    lazy: true,
    retryAttempts: 0,
    webSocketImpl: class extends WebSocket {
      constructor(address: string, protocols: string | string[]) {
        super(address, protocols, { headers });
      }
    },
    ...(token !== undefined && { connectionParams: { authorization: `Bearer ${token}` } }),
  });
}

/** Resolves once the client's socket is open and the server has let it in; to be called before it connects. */
export const letIn = (client: Client): Promise<void> =>
  new Promise((resolve) => {
    client.on('connected', () => resolve());
  });

/** Everything that one operation over a socket gives until it ends or is left. */
export interface Followed<Data> {
  results: ExecutionResult<Data>[];
  /** Set when it ended with an error or a close. */
  error: unknown;
  ended: boolean;
  leave(): void;
}

export function follow<Data = Record<string, unknown>>(
  client: Client,
  query: string,
  variables?: Record<string, unknown>,
): Followed<Data> {
  const followed: Followed<Data> = { results: [], error: undefined, ended: false, leave: () => undefined };
  followed.leave = client.subscribe<Data>(
    { query, variables },
    {
      next: (result) => void followed.results.push(result as ExecutionResult<Data>),
      error: (error) => {
        followed.error = error;
        followed.ended = true;
      },
      complete: () => {
        followed.ended = true;
      },
    },
  );
  return followed;
}
