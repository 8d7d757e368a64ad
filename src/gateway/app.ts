import { fastify } from 'fastify';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { Pool as UpstreamPool } from 'undici';
import type { Config } from '../config.js';
import { decodeInvalidation, INVALIDATION_CHANNEL } from '../db/invalidation.js';
import { listen } from '../db/listen.js';
import type { Clock } from '../lib/clock.js';
import { createEnvelope } from '../lib/crypto.js';
import { newId } from '../lib/ids.js';
import { closingIdle } from '../lib/lifecycle.js';
import { fastifyLogger, type Logger } from '../lib/logger.js';
import type { FlushResult, Meter } from '../metering/usage-record.js';
import { BodyBudget } from './body-budget.js';
import { createCatalog } from './catalog.js';
import { refuseMalformed } from './client-error.js';
import { capSockets, EDGE_LIMITS, type EdgeLimits, trustedPeer } from './edge-limits.js';
import { createEdgeMetrics } from './edge-metrics.js';
import { createKeyCache } from './key-cache.js';
import { createModelOwners } from './model-owners.js';
import { passthrough } from './passthrough.js';
import type { Relay } from './relay.js';
import { guardRequests, originForm, refuseUnroutable } from './request-guard.js';
import { entryOf } from './route-table.js';
import { v1Routes } from './v1.routes.js';

export interface EdgeDeps {
  config: Config;
  pool: Pool;
  clock: Clock;
  log: Logger;
  registry: Registry;
  /** The product's unless a test can't wait for them. */
  limits?: Partial<EdgeLimits>;
  /** Makes the meter; `onFlushed` keeps the balances in memory true. */
  createMeter(onFlushed: (result: FlushResult) => void): Promise<Meter>;
}

export interface Edge {
  /** Opens the public port; gives the address. */
  listen(): Promise<string>;
  /** Drains: no new connection, calls in flight up to `drainMs`, then every pending event. */
  close(drainMs: number): Promise<void>;
}

const KEEP_ALIVE_MS = 72_000;
const CONNECT_TIMEOUT_MS = 5_000;
const FLUSH_ON_STOP_MS = 5_000;

/** The edge as a function of its dependencies: `/v1`, `/health`, and the way to the platform. */
export async function createEdge(deps: EdgeDeps): Promise<Edge> {
  const { config, pool, clock, log, registry } = deps;
  const limits: EdgeLimits = { ...EDGE_LIMITS, ...deps.limits };
  const metrics = createEdgeMetrics(registry);
  const catalog = await createCatalog(pool, log);
  const envelope = createEnvelope('virtual-key', config.encryptionKey, config.encryptionKeyPrevious);
  const cache = createKeyCache({ pool, envelope, clock, log });
  const meter = await deps.createMeter((result) => cache.flushed(result));
  const upstreamUrl = new URL(config.upstreamUrl);
  const basePath = upstreamUrl.pathname.replace(/\/$/, '');
  const upstream = new UpstreamPool(upstreamUrl.origin, {
    // A stream holds its connection: a bounded pool would queue calls behind it.
    connections: null,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: config.upstreamTimeoutMs,
    bodyTimeout: config.upstreamIdleMs,
  });
  const owners = await createModelOwners(upstream, basePath, config.upstreamMasterKey);
  const listener = listen({
    databaseUrl: config.databaseUrl!,
    channel: INVALIDATION_CHANNEL,
    log,
    onNotify(payload) {
      const change = decodeInvalidation(payload);
      if (!change) return;
      if (change.kind === 'catalog') void catalog.reload();
      cache.invalidate(change);
    },
    onListening() {
      void catalog.reload();
      cache.invalidateAll();
    },
  });

  const active = new Set<Relay>();
  let draining = false;
  const app = fastify({
    ...fastifyLogger(log),
    genReqId: newId,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    bodyLimit: 1,
    exposeHeadRoutes: false,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // While draining, calls on kept-alive connections are still served; each answer closes its connection.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2_048 },
    http: {
      headersTimeout: limits.headersTimeoutMs,
      maxHeaderSize: limits.maxHeaderBytes,
      connectionsCheckingInterval: limits.checkIntervalMs,
      // Said in our shape by the guard.
      requireHostHeader: false,
    },
    rewriteUrl: originForm,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseUnroutable,
  });
  guardRequests(app, limits);
  capSockets(app.server, limits, trustedPeer(config.trustProxy));
  app.addHook('onRoute', (route) => void entryOf(route));
  app.addHook('onRequest', (_request, reply, done) => {
    if (draining) reply.raw.setHeader('connection', 'close');
    done();
  });
  app.get('/health', () => ({
    status: 'ok',
    ...(meter.accepting() && listener.connected() ? {} : { degraded: true }),
  }));
  app.get('/health/ready', (_request, reply) => {
    const ready = !draining && meter.accepting();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'unavailable' });
  });
  const bodies = new BodyBudget(limits);
  metrics.bodyBytes(() => bodies.usedBytes);
  const relay = { upstream, basePath, catalog, metrics };
  await app.register(async (scope) =>
    v1Routes(scope, { cache, catalog, meter, metrics, clock, owners, relay, active, bodies }),
  );
  await app.register(async (scope) =>
    passthrough(scope, { platformUrl: config.platformUrl!, log, stalledReaderMs: limits.stalledReaderMs }),
  );

  return {
    listen: () => app.listen({ host: config.host, port: config.port }),
    async close(drainMs) {
      draining = true;
      for (const call of active) call.closeConnection();
      const limit = setTimeout(() => {
        for (const call of active) call.terminate();
      }, drainMs);
      await closingIdle(app.server, () => app.close());
      clearTimeout(limit);
      await meter.drain(FLUSH_ON_STOP_MS);
      await meter.stop();
      await listener.stop();
      catalog.stop();
      cache.stop();
      owners.stop();
      await upstream.destroy();
    },
  };
}
