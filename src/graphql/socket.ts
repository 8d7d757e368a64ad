import type { FastifyRequest } from 'fastify';
import {
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type Context, makeServer, type SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { ServiceContext } from '../context.js';
import { AppError, type ErrorCode } from '../errors.js';
import { ReaderMemory } from '../lib/fair/reader-memory.js';
import { toAppError } from '../lib/to-app-error.js';
import { asWork, networkOwner } from '../lib/work-owner.js';
import { credentialOf, type RequestCredential } from '../rest/credential.js';
import { refuseOtherAccount } from '../rest/shown-account.js';
import type { Session } from '../services/accounts/sessions.service.js';
import type { Services } from '../services.js';
import type { GraphqlContext, SessionJar } from './context.js';
import { checkOperation, parseOptions, refuseUnvalidatable, validationRules } from './limits.js';
import { createLoaders } from './loaders.js';
import { createOutbox } from './outbox.js';
import { type TakeRate, takeOperation } from './rates.js';
import { FORBIDDEN, type SocketSessions } from './session-socket.js';
import { WATCH_BOUNDS, type WatchBounds, watchSocket } from './socket-watch.js';
import { documentText, type TrustedDocuments } from './trusted-documents.js';

export interface SocketServerOptions {
  schema: GraphQLSchema;
  services: Services;
  introspection: boolean;
  /** Documents of the web pages. Over WebSocket their id is in `extensions`, next to an empty query. */
  documents: TrustedDocuments;
  sessions: SocketSessions;
  bounds: SocketBounds;
  takeRate: TakeRate;
  /** Formats all errors, as over HTTP. */
  formatError(error: GraphQLError): GraphQLFormattedError;
}

/** Limits of one connection (requirement T14). */
export interface SocketBounds extends WatchBounds {
  /** Time from the upgrade to authentication. */
  initTimeoutMs: number;
}

export const SOCKET_BOUNDS: SocketBounds = {
  ...WATCH_BOUNDS,
  initTimeoutMs: 5_000,
};

/** Handles one upgraded connection. */
export type SocketHandler = (socket: WebSocket, request: FastifyRequest) => void;

interface Extra {
  socket: WebSocket;
  request: FastifyRequest;
  /** Set when the connection is initialised. */
  credential?: RequestCredential;
  accountId?: string;
  release?: () => void;
}

export const SUBPROTOCOL = 'graphql-transport-ws';
const BAD_MESSAGE = 4400;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;
/** graphql-ws throws this for a message that only servers send, such as `next`. */
const NOT_FOR_SERVERS = /^Error: Unexpected message of type /;
const OPERATIONS_PER_SOCKET = 20;
/** How a connection is closed when its initialisation is refused (rest/shown-account.ts). */
const REFUSALS: Partial<Record<ErrorCode, [code: number, reason: string]>> = {
  invalid_request: [BAD_MESSAGE, 'accountId must be the ID of an account'],
  account_changed: [FORBIDDEN, 'The cookie belongs to another account'],
};

/** A session can be opened over WebSocket, but no cookie set. */
const NO_JAR: SessionJar = { set: async () => undefined, clear: () => undefined };

/** graphql-ws with the guards, limits and errors of HTTP. */
export function createSocketHandler(options: SocketServerOptions): SocketHandler {
  const { services, sessions, bounds, formatError } = options;
  const rules = [...specifiedRules, ...validationRules(options)];
  const memory = new ReaderMemory();
  const server = makeServer<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: bounds.initTimeoutMs,
    onConnect: (connection) => connect(connection, services, sessions),
    onSubscribe: (connection, _id, payload) => prepare(connection, payload, options, rules),
    onNext: (_connection, _id, _payload, _args, result): FormattedExecutionResult => ({
      ...result,
      errors: result.errors?.map(formatError),
    }),
    onError: (_connection, _id, _payload, errors) =>
      errors.map((error) => formatError(error as GraphQLError)),
    onClose: ({ extra }) => extra.release?.(),
  });

  return (socket, request) => {
    const extra: Extra = { socket, request };
    const watch = watchSocket(socket, bounds, () => extra.release !== undefined);
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send: createOutbox(socket, (bytes) =>
          memory.take({ accountId: extra.accountId, network: request.context.network }, bytes),
        ),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on('message', (data) => {
            // A single buffer, the default of `ws`.
            if (!watch.admit((data as Buffer).length)) return;
            const work = { owner: networkOwner(request.context.network) };
            asWork(work, () => handle(String(data))).catch((error: unknown) => {
              closeAfter(error, extra);
            });
          });
        },
      },
      extra,
    );
    socket.once('close', (code, reason) => {
      watch.stop();
      closed(code, String(reason)).catch((error: unknown) => {
        request.log.error({ err: error }, 'cleaning up a WebSocket failed');
      });
    });
  };
}

/** Closes a connection whose message has failed. Clients of graphql-ws reconnect after 1013, and never after 1011. */
function closeAfter(error: unknown, { socket, request }: Extra): void {
  if (NOT_FOR_SERVERS.test(String(error))) {
    socket.close(BAD_MESSAGE, 'This message is for clients only');
    return;
  }
  const { code } = toAppError(error);
  const refusal = REFUSALS[code];
  if (refusal) {
    socket.close(...refusal);
    return;
  }
  const isOutage = code === 'service_unavailable';
  request.log[isOutage ? 'warn' : 'error']({ err: error }, 'a WebSocket message failed');
  if (isOutage) socket.close(TRY_AGAIN_LATER, 'The service is temporarily unavailable');
  else socket.close(INTERNAL_ERROR, 'Internal error');
}

/** A context for one operation, which shares nothing with earlier ones. */
const freshContext = ({ context }: FastifyRequest): ServiceContext => ({
  ...context,
  viewer: null,
  em: context.em.fork(),
});

/** Authenticates the connection, or closes it. */
async function connect(
  { extra, connectionParams }: Context<Record<string, unknown>, Extra>,
  { accounts }: Services,
  sessions: SocketSessions,
): Promise<boolean> {
  const { socket, request } = extra;
  const { credentials, accountId } = connectionParams ?? {};
  const authorization = memberOf(connectionParams, 'authorization');
  const credential = credentialOf(
    typeof authorization === 'string' ? authorization : request.headers.authorization,
    // A browser sends the cookie with each upgrade. A page opts out with `credentials: omit`, as in `fetch`.
    credentials === 'omit' ? {} : request.cookies,
  );
  const session = credential && (await accounts.authenticate(freshContext(request), credential.token));
  if (!session) return false;
  if (credential?.from === 'cookie') refuseOtherAccount(accountId, session.viewer.accountId);
  extra.credential = credential;
  extra.accountId = session.viewer.accountId;
  extra.release = sessions.admit(
    {
      token: credential.token,
      context: () => freshContext(request),
      close: (code, reason) => socket.close(code, reason),
    },
    session,
  );
  // A socket that closed during the session look-up gets no later event that would release its place.
  if (socket.readyState !== socket.OPEN) extra.release?.();
  return extra.release !== undefined;
}

/** A member named like a header, in any case. */
function memberOf(params: Record<string, unknown> | undefined, name: string): unknown {
  return Object.entries(params ?? {}).find(([member]) => member.toLowerCase() === name)?.[1];
}

/** The checks before the execution: who is asking now, and whether the document may run. */
async function prepare(
  { extra, subscriptions }: Context<Record<string, unknown>, Extra>,
  { query, extensions, operationName, variables }: SubscribePayload,
  { schema, services, documents, takeRate }: SocketServerOptions,
  rules: readonly (typeof specifiedRules)[number][],
): Promise<ExecutionArgs | GraphQLError[]> {
  if (Object.keys(subscriptions).length > OPERATIONS_PER_SOCKET) {
    const message = `At most ${OPERATIONS_PER_SOCKET} operations can run on one connection at a time.`;
    return [wrapped(new AppError('rate_limit_exceeded', { message }))];
  }
  const service = freshContext(extra.request);
  let session: Session | undefined;
  let text: string;
  try {
    session = await services.accounts.authenticate(service, extra.credential!.token);
    text = String(documentText({ query, documentId: extensions?.documentId }, extra.credential, documents));
  } catch (error) {
    return [wrapped(error)];
  }
  if (!session) {
    extra.socket.close(FORBIDDEN, 'The session has ended');
    return [wrapped(new AppError('unauthorized'))];
  }
  service.viewer = session.viewer;
  try {
    takeRate(service, 'read', 1);
    refuseUnvalidatable(schema, text);
    const document = parse(text, parseOptions);
    const faults = validate(schema, document, rules);
    if (faults.length > 0) return faults.map((fault) => withCode(fault, 'GRAPHQL_VALIDATION_FAILED'));
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      const fault = new GraphQLError(
        'The document has no such operation. Set operationName to the operation to run.',
      );
      return [withCode(fault, 'OPERATION_RESOLUTION_FAILURE')];
    }
    const weight = checkOperation({ schema, document, operation, variables: variables ?? {} });
    takeOperation(takeRate, service, weight);
    const contextValue = { service, services, sessionJar: NO_JAR } as GraphqlContext;
    contextValue.loaders = createLoaders(contextValue);
    return { schema, document, operationName, variableValues: variables, contextValue };
  } catch (error) {
    if (error instanceof AppError) return [wrapped(error)];
    const fault = error as GraphQLError;
    return [fault.extensions?.code === undefined ? withCode(fault, 'GRAPHQL_PARSE_FAILED') : fault];
  }
}

const wrapped = (error: unknown): GraphQLError =>
  new GraphQLError('', { originalError: error instanceof Error ? error : new Error(String(error)) });

const withCode = (fault: GraphQLError, code: string): GraphQLError => {
  const { message, nodes, source, positions, path, originalError } = fault;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions: { code } });
};
