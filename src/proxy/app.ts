import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { Registry } from 'prom-client';
import type { ErrorCode } from '../errors.js';
import { CONNECTION_BOUNDS, cutConnections, type RequestBounds } from '../lib/cut-connections.js';
import { fastifyLogger, NO_JSON_SCHEMAS } from '../lib/fastify-options.js';
import { MAX_HEADER_BYTES } from '../lib/http-limits.js';
import { idleCloser } from '../lib/lifecycle.js';
import type { Logger } from '../lib/logger.js';
import { matchedRules, requireRules } from '../lib/route-rules.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import { type Access, bearerOf, createAccess } from './access.js';
import { AnswerMemory } from './answer-memory.js';
import { type ProxyError, refusalOf, sendError } from './answers.js';
import type { CallTimeouts } from './call.js';
import type { Random } from './group.js';
import { inferenceRoutes } from './inference-routes.js';
import { keyRoutes } from './key-routes.js';
import { acceptLinks, asksForLink } from './link/accept-links.js';
import { modelInfoRoutes } from './model-info-routes.js';
import { createProxyMetrics } from './proxy-metrics.js';
import { createRelay } from './relay.js';
import { type RouteRules, rules } from './route-rules.js';
import { createRouter, type Router, type RouterDeps } from './router.js';
import type { Routing } from './routing.js';
import { Sites, type SteeringNode } from './sites.js';
import type { InferenceDeps } from './take-call.js';
import { type ProxyTime, processTime } from './time.js';
import type { VirtualKeys } from './virtual-keys.js';

const DRAIN_TIMEOUT_MS = 30_000;
/** The same as the edge's: this port may be reachable by others than the edge. */
const BOUNDS: Readonly<RequestBounds> = {
  ...CONNECTION_BOUNDS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 72_000,
};
/** Above what a node that serves takes for one token, and short enough for a call to wait for. */
const MAX_PROBE_MS = 5_000;

export interface ProxyDeps {
  routing: Routing;
  keys: VirtualKeys;
  masterKey: string;
  /** Where the routing file says nothing. */
  timeouts: Omit<CallTimeouts, 'totalMs'>;
  log: Logger;
  registry?: Registry;
  /** The process's own unless a test moves it by hand. */
  time?: ProxyTime;
  /** Decides the shuffle. */
  random?: Random;
  /** Milliseconds that calls in flight have to end when it closes. */
  drainTimeoutMs?: number;
  /** The product's unless a test can't wait for them. */
  bounds?: Partial<RequestBounds> | undefined;
  /** Bytes for large whole answers beside the one that has the turn; the product's unless a test wants to fill them. */
  answerBytes?: number | undefined;
  tracing?: Tracing | undefined;
}

export interface ModelProxy {
  app: FastifyInstance;
  /** False once it drains; for its own port and the metrics port. Known keys are served without a database. */
  ready(): boolean;
  /** Routes by another reading of the file from the next try on; calls in flight go on. */
  reload(routing: Routing): void;
  /** Goes by another reading of the node registry, from the next try on. */
  steer(nodes: readonly SteeringNode[]): void;
  /** Calls under way at a host and port (lib/endpoint-key.ts). */
  inFlight(endpointKey: string): number;
  /** How many deployments of the routing file are there. */
  deploymentsAt(endpointKey: string): number;
  /** Called whenever the last call to a node ends that takes no new ones. */
  onNodeIdle(listener: () => void): void;
  /** Stops accepting, lets calls in flight end, then cuts what is left. */
  close(): Promise<void>;
}

/** What the edge sends with a call and looks for in its answer; it makes nothing longer. */
const REQUEST_ID = /^[!-~]{1,200}$/;

/** Fastify's own refusals in the shape of all others. */
function answerFailure(error: FastifyError, reply: FastifyReply, log: Logger): FastifyReply {
  const codes: Record<number, ErrorCode> = {
    400: 'invalid_body',
    413: 'body_too_large',
    415: 'unsupported_media_type',
    431: 'headers_too_large',
  };
  const code = codes[error.statusCode ?? 500] ?? 'internal_error';
  if (code === 'internal_error') log.error({ error }, 'a request failed');
  return sendError(reply, refusalOf(code));
}

/** Every answer names the call that it belongs to, so that the edge sees when it has got another's. */
function echoRequestId({ headers }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const id = headers['x-request-id'];
  if (typeof id === 'string' && REQUEST_ID.test(id)) reply.raw.setHeader('x-request-id', id);
  done();
}

/** Asks for what the matched route declares, on the headers, before a byte of the body is read. */
function requireAuth(access: Access) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const auth = matchedRules<RouteRules>(request)?.auth ?? 'none';
    if (auth === 'none') {
      done();
      return;
    }
    const judge = (refusal: ProxyError | undefined): void => {
      if (refusal) sendError(reply, refusal);
      else done();
    };
    const refusal = access.refusal(auth, request.headers.authorization);
    if (refusal instanceof Promise) void refusal.then(judge);
    else judge(refusal);
  };
}

/** The model proxy as a function of its dependencies; it doesn't listen yet. */
export function createProxy(deps: ProxyDeps): ModelProxy {
  const { keys, log } = deps;
  const access = createAccess(keys, deps.masterKey);
  const bounds: RequestBounds = { ...BOUNDS, ...deps.bounds };
  const app: FastifyInstance = Fastify({
    ...fastifyLogger(log),
    ...NO_JSON_SCHEMAS,
    // A separate logger for every request costs more than it is worth.
    childLoggerFactory: (logger) => logger,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: bounds.headersTimeoutMs,
      connectionsCheckingInterval: bounds.checkIntervalMs,
      // Any other request for an upgrade is answered as if it asked for none.
      shouldUpgradeCallback: asksForLink,
    },
    // A call that reaches us while we drain is served; the answer says that the connection closes.
    return503OnClosing: false,
  });
  const closing = idleCloser(app.server, { isKept: (socket) => links.has(socket) });
  cutConnections(app.server, bounds);
  const answers = new AnswerMemory(deps.answerBytes);
  const relay = createRelay((authorization) => keys.ownerOf(bearerOf(authorization) ?? ''), answers);
  const time = deps.time ?? processTime;
  let { routing } = deps;
  let router: Router;
  const metrics = createProxyMetrics(deps.registry, () => router.states());
  metrics.answers(() => answers.usedBytes);
  const firstByteMs = (): number => routing.settings.timeoutMs ?? deps.timeouts.firstByteMs;
  const ending = new AbortController();
  let nodeIsIdle = (): void => undefined;
  const sites = new Sites(() => nodeIsIdle());
  const routerDeps: RouterDeps = {
    time,
    sites,
    ending: ending.signal,
    log,
    metrics,
    asking: new Map(),
    probe: (deployment, path) =>
      relay.probe(deployment, path, Math.min(MAX_PROBE_MS, deployment.timeoutMs ?? firstByteMs())),
  };
  router = createRouter(routing, routerDeps);
  let draining = false;
  const ready = (): boolean => !draining;

  requireRules(app);
  app.addHook('onRequest', echoRequestId);
  app.addHook('onRequest', requireAuth(access));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => answerFailure(error, reply, log));
  app.setNotFoundHandler((_request, reply) => sendError(reply, refusalOf('endpoint_not_supported')));

  const health = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(ready() ? 200 : 503).send({ status: ready() ? 'ok' : 'unavailable' });
  app.get('/health', rules('none'), health);
  app.get('/health/ready', rules('none'), health);
  // LiteLLM's names and responses, so that the same monitoring works for both.
  app.get('/health/readiness', rules('none'), (_request, reply) =>
    reply.code(ready() ? 200 : 503).send({ status: ready() ? 'healthy' : 'unhealthy' }),
  );
  app.get('/health/liveliness', rules('none'), () => JSON.stringify("I'm alive!"));

  deps.tracing?.watch(app.server);
  const inference: InferenceDeps = {
    tracing: deps.tracing,
    router: () => router,
    relay,
    time,
    random: deps.random ?? Math.random,
    metrics,
    timeouts: () => ({
      firstByteMs: firstByteMs(),
      totalMs: deps.timeouts.firstByteMs,
      idleMs: deps.timeouts.idleMs,
    }),
  };
  inferenceRoutes(app, inference);
  const links = acceptLinks(app.server, { inference, access, bounds, log });
  keyRoutes(app, keys);
  modelInfoRoutes(app, () => router);

  return {
    app,
    ready,
    reload(next) {
      routing = next;
      router = createRouter(next, routerDeps, router);
      relay.retain(next.deployments);
    },
    steer: (nodes) => router.steer(nodes),
    inFlight: (key) => sites.inFlight(key),
    deploymentsAt: (key) => router.deploymentsAt(key),
    onNodeIdle(listener) {
      nodeIsIdle = listener;
    },
    async close() {
      draining = true;
      ending.abort();
      links.drain();
      const cut = setTimeout(() => {
        app.server.closeAllConnections();
        links.destroy();
      }, deps.drainTimeoutMs ?? DRAIN_TIMEOUT_MS);
      await closing(() => app.close());
      clearTimeout(cut);
      relay.close();
    },
  };
}
