import { fastifyApolloHandler } from '@as-integrations/fastify';
import websocket from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Registry } from 'prom-client';
import type { WebSocket } from 'ws';
import { AppError } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { credentialOf } from '../rest/credential.js';
import type { RestApp } from '../rest/rest-app.js';
import { reads, writes } from '../rest/route-rules.js';
import { clearSessionCookie, startCookieSession } from '../rest/session-cookie.js';
import type { Signals } from '../services/live/signals.js';
import type { Services } from '../services.js';
import type { GraphqlContext } from './context.js';
import { formatGraphqlError, POST_ONLY } from './errors.js';
import { settledAccept, statusOfFaults } from './http-status.js';
import { refuseUnvalidatable } from './limits.js';
import { createLoaders } from './loaders.js';
import { createGraphqlMetrics } from './metrics.js';
import type { TakeRate } from './rates.js';
import { startGraphqlServer } from './server.js';
import { createSocketSessions } from './session-socket.js';
import { createSocketHandler, SOCKET_BOUNDS, type SocketBounds, SUBPROTOCOL } from './socket.js';
import { type DocumentRequest, documentText, type TrustedDocuments } from './trusted-documents.js';

export interface GraphqlDeps {
  schema: GraphQLSchema;
  services: Services;
  signals: Signals;
  /** Whether introspection and suggestions for misspelled names are on. */
  introspection: boolean;
  /** Documents of the web pages. */
  documents: TrustedDocuments;
  registry: Registry;
  log: Logger;
  /** Shorter in tests. */
  socketBounds?: Partial<SocketBounds> | undefined;
  takeRate: TakeRate;
  /** Converts an error of the guards that run before GraphQL. */
  toAppError(error: unknown): AppError;
}

const MAX_FRAME_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
/** Time for a client to answer our close frame, also when the process stops. */
const GOODBYE_MS = 1_000;
const CLOSE_MS = 2_000;
const ENDPOINT = '/graphql';
/** REST's limit for the playground and prompts, plus a document. */
const DOCUMENT_BYTES = 768 * 1024;

/** `/graphql`: queries and mutations by POST, queries without the cookie by GET, everything over WebSocket. */
export async function graphqlRoutes(app: RestApp, deps: GraphqlDeps): Promise<void> {
  const { schema, services, introspection, documents, log } = deps;
  const sessions = createSocketSessions(services, deps.signals);
  const bounds = { ...SOCKET_BOUNDS, ...deps.socketBounds };
  const metrics = createGraphqlMetrics(deps.registry, sessions.count);
  const formatError = (error: GraphQLError) => {
    const formatted = formatGraphqlError(error, { log, suggestions: introspection });
    metrics.failed(String(formatted.extensions?.code));
    return formatted;
  };
  const server = await startGraphqlServer({
    schema,
    introspection,
    log,
    formatError,
    takeRate: deps.takeRate,
  });
  await acceptSockets(app, log);
  app.addHook('onClose', async () => {
    sessions.stop();
    await server.stop();
  });

  // Fastify's reply type doesn't fit the integration together with the zod provider.
  const runs = fastifyApolloHandler(server, {
    context: async (request: FastifyRequest, reply: FastifyReply) => contextOf(request, reply, services),
  } as never) as never;
  const answerFault = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const isOfDocument = error instanceof GraphQLError;
    const shown = isOfDocument ? undefined : deps.toAppError(error);
    const fault = isOfDocument ? error : new GraphQLError('', { originalError: shown });
    const formatted = formatError(fault);
    const { code, retryAfterSeconds } = formatted.extensions as {
      code: string;
      retryAfterSeconds?: number;
    };
    reply.errorCode = code;
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    reply
      .status(shown?.status ?? statusOfFaults([formatted], settledAccept(request.headers.accept)))
      .type(`${settledAccept(request.headers.accept)}; charset=utf-8`)
      .send(JSON.stringify({ errors: [formatted] }));
  };

  app.route({
    method: 'POST',
    url: ENDPOINT,
    // `login` and `signup` set the cookie. Each request counts as a read; its operation counts more by its cost
    // (rates.ts).
    config: writes({ auth: 'optional', opensSession: true, bodyLimitBytes: DOCUMENT_BYTES, rate: 'read' }),
    schema: { hide: true },
    preHandler: async (request, reply) => {
      request.raw.headers.accept = settledAccept(request.headers.accept);
      useDocument(request, documents);
      reply.holdsSecret = mayMutate(request);
      refuseUnvalidatable(schema, (request.body as DocumentRequest | null)?.query);
    },
    handler: runs,
    errorHandler: answerFault,
  });
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 && request.url.split('?', 1)[0] === ENDPOINT) refuseMethod(reply, 'GET, POST');
  });
  app.route({
    method: 'GET',
    url: ENDPOINT,
    config: reads({ auth: 'optional' }),
    schema: { hide: true },
    exposeHeadRoute: false,
    preHandler: async (request, reply) => {
      if (request.ws) return;
      // Parsed as Apollo does: Fastify's parser treats invalid escapes differently.
      const [query, another] = new URL(request.url, 'http://localhost').searchParams.getAll('query');
      const credential = credentialOf(request.headers.authorization, request.cookies);
      // Another site's page can make a browser send the cookie with a GET.
      if (query === undefined || another !== undefined || credential?.from === 'cookie')
        refuseMethod(reply, 'POST');
      refuseUnvalidatable(schema, query);
      request.raw.headers.accept = settledAccept(request.headers.accept);
      // Without the cookie there is nothing to forge.
      request.raw.headers['apollo-require-preflight'] = 'true';
    },
    handler: runs,
    errorHandler: answerFault,
    wsHandler: createSocketHandler({
      schema,
      services,
      introspection,
      sessions,
      bounds,
      documents,
      formatError,
      takeRate: deps.takeRate,
    }) as never,
  });
}

function refuseMethod(reply: FastifyReply, allowed: string): never {
  reply.header('allow', allowed);
  throw new AppError('method_not_allowed', { message: POST_ONLY });
}

/** Puts the text of the document where Apollo expects it. Apollo refuses bodies that aren't objects. */
function useDocument(request: FastifyRequest, documents: TrustedDocuments): void {
  if (typeof request.body !== 'object' || request.body === null || Array.isArray(request.body)) return;
  const { documentId, ...body } = request.body as DocumentRequest;
  const credential = credentialOf(request.headers.authorization, request.cookies);
  request.body = { ...body, query: documentText({ ...body, documentId }, credential, documents) };
}

/** Responses to mutations contain secrets next to names chosen by the caller (platform/compression.ts). */
const mayMutate = ({ body }: FastifyRequest): boolean =>
  /\bmutation\b/.test(String((body as DocumentRequest | null)?.query));

function contextOf(request: FastifyRequest, reply: FastifyReply, services: Services): GraphqlContext {
  const context = {
    service: request.context,
    services,
    sessionJar: {
      set: (session) => startCookieSession(reply, session, services.accounts),
      clear: () => clearSessionCookie(reply),
    },
  } as GraphqlContext;
  context.loaders = createLoaders(context);
  return context;
}

/** Accepts WebSocket connections: one subprotocol, small frames, no compression. */
async function acceptSockets(app: RestApp, log: Logger): Promise<void> {
  await app.register(websocket, {
    options: {
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      // Missing in its types.
      ...{ closeTimeout: CLOSE_MS },
      // Pings count like messages (socket-watch.ts).
      autoPong: false,
      handleProtocols: (offered: Set<string>) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    },
    errorHandler: (error: Error, socket: WebSocket) => {
      // An oversized or malformed frame: `ws` has closed the socket with the right code.
      log.debug({ err: error }, 'a WebSocket failed');
      if (socket.readyState === socket.OPEN) socket.terminate();
    },
    preClose(done: () => void) {
      const { clients } = app.websocketServer;
      for (const client of clients) client.close(GOING_AWAY, 'The server is stopping');
      const rest = setTimeout(() => {
        for (const client of clients) client.terminate();
      }, GOODBYE_MS);
      app.websocketServer.close(() => clearTimeout(rest));
      done();
    },
  });
}
