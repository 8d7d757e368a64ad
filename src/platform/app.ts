import cookie from '@fastify/cookie';
import type { MikroORM } from '@mikro-orm/postgresql';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Config } from '../config.js';
import { openOperations } from '../graphql/access.js';
import { graphqlRoutes } from '../graphql/routes.js';
import { createSchema } from '../graphql/schema.js';
import type { SocketBounds } from '../graphql/socket.js';
import type { Clock } from '../lib/clock.js';
import { CONNECTION_BOUNDS, cutConnections, type RequestBounds } from '../lib/cut-connections.js';
import { NetworkBudget } from '../lib/fair/network-budget.js';
import { fastifyLogger, NO_JSON_SCHEMAS } from '../lib/fastify-options.js';
import { FORWARDED_HEADER_BYTES, MAX_HEADER_BYTES } from '../lib/http-limits.js';
import { newId } from '../lib/ids.js';
import { idleCloser } from '../lib/lifecycle.js';
import type { Logger } from '../lib/logger.js';
import { isLoopback, networkOf, networksOf } from '../lib/network.js';
import { type DeclaredRoute, requireRules } from '../lib/route-rules.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import { isWebSocketUpgrade } from '../lib/web-socket-upgrade.js';
import { agentRoutes } from '../pages/agent.routes.js';
import { crawlerRoutes } from '../pages/crawler.routes.js';
import { docsPages } from '../pages/docs.routes.js';
import { mailRoutes } from '../pages/mail.routes.js';
import { answerWithPage } from '../pages/not-found-page.js';
import { createPageCache } from '../pages/public/page-cache.js';
import { publicPages } from '../pages/public.routes.js';
import { sharedPlaygroundRoutes } from '../pages/shared-playground.routes.js';
import type { SiteContext } from '../pages/site.js';
import { webRoutes } from '../pages/web.routes.js';
import type { WebBuild } from '../pages/web-build.js';
import { widgetPages } from '../pages/widget.routes.js';
import { accountsRoutes } from '../rest/accounts.routes.js';
import { adminRoutes } from '../rest/admin.routes.js';
import { alertsRoutes } from '../rest/alerts.routes.js';
import { analyticsRoutes } from '../rest/analytics.routes.js';
import { billingRoutes } from '../rest/billing.routes.js';
import { healthRoutes } from '../rest/health.routes.js';
import { keysRoutes } from '../rest/keys.routes.js';
import { leaderboardRoutes } from '../rest/leaderboard.routes.js';
import { migrationRoutes } from '../rest/migration.routes.js';
import { nodesRoutes } from '../rest/nodes.routes.js';
import { playgroundRoutes } from '../rest/playground.routes.js';
import { promptStatsRoutes } from '../rest/prompt-stats.routes.js';
import { promptsRoutes } from '../rest/prompts.routes.js';
import { refusalsRoutes } from '../rest/refusals.routes.js';
import type { RestApp } from '../rest/rest-app.js';
import type { ApiRouteRules } from '../rest/route-rules.js';
import { statementRoutes } from '../rest/statement.routes.js';
import { statusRoutes } from '../rest/status.routes.js';
import { widgetsRoutes } from '../rest/widgets.routes.js';
import type { Signals } from '../services/live/signals.js';
import type { Services } from '../services.js';
import { compressAnswers } from './compression.js';
import { answerBrokenHttp, handleErrors, requestError, sendError } from './error-handler.js';
import { parseJsonBodies } from './json-body.js';
import { boundLargeAnswers } from './large-answers.js';
import { measureRequests } from './metrics.js';
import { collectOpenApi } from './openapi.js';
import { chargeBody, createRates, limitRates, requireRate } from './rates.js';
import { addSecurityHeaders, checkContentType, checkHost, ownWork } from './route-guard.js';
import { guardSessions } from './session-guard.js';
import { traceRequests } from './trace-requests.js';
import { warnOfUntrustedPeers } from './untrusted-peers.js';

export interface PlatformDeps {
  config: Config;
  orm: MikroORM;
  services: Services;
  clock: Clock;
  log: Logger;
  registry: Registry;
  /** Live signals from other processes. */
  signals: Signals;
  /** Whether the process can serve now; an error counts as no. */
  ready(): Promise<boolean>;
  /** The pages built from web/; without them their paths answer 503. */
  web?: WebBuild;
  socketBounds?: Partial<SocketBounds> | undefined;
  /** Shorter in tests. */
  bounds?: Partial<RequestBounds> | undefined;
  tracing?: Tracing | undefined;
}

export interface Platform {
  app: RestApp;
  /** The declared rules of each route, without HEAD. */
  routes: readonly DeclaredRoute<ApiRouteRules>[];
  /** Finishes requests in progress and closes. The database belongs to the caller. */
  close(): Promise<void>;
}

/** The edge on this machine may name its clients. Other peers may only if `TRUST_PROXY` lists them. */
const OWN_EDGE = ['127.0.0.1', '::1'];
/** The edge and its client. With more hops, a proxy of `TRUST_PROXY` is in front of the edge. */
const HOPS_OF_OWN_EDGE = 2;
const TOO_MANY = 'Too many requests without a session from this network. Try again later.';
const WEBSOCKET_URL = /^\/graphql(?:\?|$)/;
/** For clients that reach this process directly. The edge has its own limits. */
const BOUNDS: Readonly<RequestBounds> = {
  ...CONNECTION_BOUNDS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 72_000,
  // As the edge's.
  restMs: 2_000,
};

/** Builds the platform: every route with its guards. Doesn't listen yet. */
export async function createPlatform(deps: PlatformDeps): Promise<Platform> {
  const { config, services } = deps;
  const publicUrl = new URL(config.publicBaseUrl);
  const https = publicUrl.protocol === 'https:';
  const bounds: RequestBounds = { ...BOUNDS, ...deps.bounds };
  const app: RestApp = fastify({
    ...fastifyLogger(deps.log),
    ...NO_JSON_SCHEMAS,
    genReqId: newId,
    trustProxy: [...OWN_EDGE, ...config.trustProxy],
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES + FORWARDED_HEADER_BYTES,
      headersTimeout: bounds.headersTimeoutMs,
      connectionsCheckingInterval: bounds.checkIntervalMs,
      // Elsewhere an upgrade is ignored, and the request is answered with its body.
      shouldUpgradeCallback: (request) =>
        isWebSocketUpgrade(request) && WEBSOCKET_URL.test(request.url ?? ''),
    },
    // Requests on kept-alive connections are still served; the last answer of each closes it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendError(requestError(error), request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  const closing = idleCloser(app.server, { restMs: bounds.restMs });
  cutConnections(app.server, bounds);
  if (deps.tracing) traceRequests(app, deps.tracing);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);

  const routes = requireRules<ApiRouteRules>(app, requireRate);
  const site: SiteContext = { baseUrl: config.publicBaseUrl, assets: deps.web?.site };
  handleErrors(
    app,
    (request, reply) => answerWithPage(request, reply, { site, https }),
    config.publicBaseUrl,
  );
  measureRequests(app, deps.registry);
  parseJsonBodies(app, (request, bytes) => chargeBody(takeRate, request, bytes));
  provideContext(app, deps);
  warnOfUntrustedPeers(app);
  ownWork(app);
  addSecurityHeaders(app, { https });
  checkHost(app);
  await app.register(cookie, {
    parseOptions: { httpOnly: true, sameSite: 'lax', path: '/', secure: https },
  });
  const strangers = new NetworkBudget(deps.clock, TOO_MANY);
  guardSessions(app, services, {
    strangers,
    publicUrl,
    production: config.production,
    internalSecrets: [config.gpuHeartbeatSecret, config.gpuHeartbeatSecretPrevious],
  });
  // Test suites and scripts of developers on the same machine aren't limited.
  const takeRate = createRates(({ loopback }) => loopback && !config.production, strangers);
  limitRates(app, takeRate);
  checkContentType(app);
  boundLargeAnswers(app);
  compressAnswers(app);
  await collectOpenApi(app);

  healthRoutes(app, () => deps.ready().catch(() => false));
  const pages = createPageCache(deps.clock);
  publicPages(app, {
    services,
    site,
    clock: deps.clock,
    pages,
    leastAccounts: config.leaderboardMinAccounts,
  });
  crawlerRoutes(app, { services, site, startedAt: deps.clock.now() });
  const schema = createSchema();
  docsPages(app, { site, pages, openOperations: openOperations(schema) });
  mailRoutes(app, services, site);
  agentRoutes(app);
  accountsRoutes(app, services);
  billingRoutes(app, services);
  keysRoutes(app, services);
  widgetsRoutes(app, services);
  analyticsRoutes(app, services);
  refusalsRoutes(app, services);
  statementRoutes(app, services);
  statusRoutes(app, services);
  alertsRoutes(app, services);
  leaderboardRoutes(app, services);
  migrationRoutes(app, services);
  promptsRoutes(app, services);
  promptStatsRoutes(app, services);
  playgroundRoutes(app, services);
  sharedPlaygroundRoutes(app, services, site);
  adminRoutes(app, services);
  nodesRoutes(app, services);
  await graphqlRoutes(app, {
    schema,
    services,
    signals: deps.signals,
    introspection: config.graphqlIntrospection,
    documents: {
      texts: deps.web?.documents ?? new Map(),
      binding: config.production,
    },
    registry: deps.registry,
    log: deps.log,
    socketBounds: deps.socketBounds,
    takeRate,
    toAppError: requestError,
  });
  webRoutes(app, deps.web);
  widgetPages(app, services, deps.web);
  return { app, routes, close: () => closing(() => app.close()) };
}

/** Request id and service context, before anything else can fail. */
function provideContext(app: RestApp, { orm, clock }: PlatformDeps): void {
  // The hook below sets it before anyone can read it.
  app.decorateRequest('context', undefined as never);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    request.context = {
      viewer: null,
      em: orm.em.fork(),
      clock,
      log: request.log as Logger,
      network: networkOf(request.ip),
      networks: networksOf(request.ip),
      loopback: isLoopback(request.ip) && (request.ips?.length ?? 0) <= HOPS_OF_OWN_EDGE,
    };
  });
}
