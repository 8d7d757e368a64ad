import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { ErrorCode } from '../errors.js';
import { CONNECTION_BOUNDS, cutConnections, type RequestBounds } from '../lib/cut-connections.js';
import { fastifyLogger, NO_JSON_SCHEMAS } from '../lib/fastify-options.js';
import { MAX_HEADER_BYTES } from '../lib/http-limits.js';
import { idleCloser } from '../lib/lifecycle.js';
import type { Logger } from '../lib/logger.js';
import { requireRules } from '../lib/route-rules.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import { refusalOf } from '../router/answers.js';
import type { ModelRouter } from '../router/model-router.js';
import type { VirtualKeys } from '../router/virtual-keys.js';
import { requireAuth } from './access.js';
import { inferenceRoutes } from './inference-routes.js';
import { keyRoutes } from './key-routes.js';
import { modelInfoRoutes } from './model-info-routes.js';
import { proxyRules } from './route-rules.js';
import { sendProxyError } from './send-error.js';

/** Like the edge's, because this port may be reachable by others than the edge. */
const BOUNDS: Readonly<RequestBounds> = {
  ...CONNECTION_BOUNDS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 72_000,
  // As the edge's.
  restMs: 2_000,
};

export interface ProxyDeps {
  router: ModelRouter;
  keys: VirtualKeys;
  masterKey: string;
  log: Logger;
  /** Milliseconds that calls in flight have to end on close. */
  drainTimeoutMs: number;
  /** Overrides BOUNDS in tests. */
  bounds?: Partial<RequestBounds> | undefined;
  tracing?: Tracing | undefined;
}

export interface ModelProxy {
  app: FastifyInstance;
  /** False while draining; reported on both ports. Doesn't depend on the database, since known keys are served without. */
  ready(): boolean;
  /** Stops accepting connections, lets calls in flight end, cuts the rest, and closes the router. */
  close(): Promise<void>;
}

/** A call's ID, which the edge sends and expects in the answer. */
const REQUEST_ID = /^[!-~]{1,200}$/;

/** Puts Fastify's own refusals into the API's error format. */
function answerFailure(error: FastifyError, reply: FastifyReply, log: Logger): FastifyReply {
  const codes: Record<number, ErrorCode> = {
    400: 'invalid_body',
    413: 'body_too_large',
    415: 'unsupported_media_type',
    431: 'headers_too_large',
  };
  const code = codes[error.statusCode ?? 500] ?? 'internal_error';
  if (code === 'internal_error') log.error({ error }, 'a request failed');
  return sendProxyError(reply, refusalOf(code));
}

/** Repeats the call's ID in the answer, so that the edge can detect another call's answer. */
function echoRequestId({ headers }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const id = headers['x-request-id'];
  if (typeof id === 'string' && REQUEST_ID.test(id)) reply.raw.setHeader('x-request-id', id);
  done();
}

/** Creates the HTTP server over the router. It doesn't listen yet. */
export function createProxy(deps: ProxyDeps): ModelProxy {
  const { router, keys, log, tracing } = deps;
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
      // An upgrade request is handled like an ordinary one.
      shouldUpgradeCallback: () => false,
    },
    // Calls that arrive while draining are still served; their answers close the connection.
    return503OnClosing: false,
  });
  const closing = idleCloser(app.server, { restMs: bounds.restMs });
  cutConnections(app.server, bounds);
  let draining = false;
  const ready = (): boolean => !draining;

  requireRules(app);
  app.addHook('onRequest', echoRequestId);
  app.addHook('onRequest', requireAuth(keys, deps.masterKey));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => answerFailure(error, reply, log));
  app.setNotFoundHandler((_request, reply) => sendProxyError(reply, refusalOf('endpoint_not_supported')));

  const health = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(ready() ? 200 : 503).send({ status: ready() ? 'ok' : 'unavailable' });
  app.get('/health', proxyRules('none'), health);
  app.get('/health/ready', proxyRules('none'), health);
  // LiteLLM's names and responses, so that the same monitoring works for both.
  app.get('/health/readiness', proxyRules('none'), (_request, reply) =>
    reply.code(ready() ? 200 : 503).send({ status: ready() ? 'healthy' : 'unhealthy' }),
  );
  app.get('/health/liveliness', proxyRules('none'), () => JSON.stringify("I'm alive!"));

  tracing?.watch(app.server);
  inferenceRoutes(app, { keys, tracing, calls: router.calls });
  keyRoutes(app, keys);
  modelInfoRoutes(app, () => router.current());

  return {
    app,
    ready,
    async close() {
      draining = true;
      router.drain();
      const cut = setTimeout(() => app.server.closeAllConnections(), deps.drainTimeoutMs);
      await closing(() => app.close());
      clearTimeout(cut);
      router.close();
    },
  };
}
