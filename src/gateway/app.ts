import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Config } from '../config.js';
import { createCallMetrics } from '../inference/call-metrics.js';
import { createCatalog } from '../inference/catalog.js';
import { DatabaseContact } from '../inference/database-contact.js';
import { createLimits, type LimitTimeouts } from '../inference/limits/create-limits.js';
import { EdgeIdentity } from '../inference/limits/edge-identity.js';
import { BodyBudget } from '../inference/memory/body-budget.js';
import type { ModelRoutes } from '../inference/model-routes.js';
import { Payers } from '../inference/payers.js';
import type { Relay } from '../inference/relay/relay.js';
import { History } from '../inference/widgets/history.js';
import { Loops } from '../inference/widgets/loops.js';
import { SiteNames } from '../inference/widgets/site-names.js';
import { Visitors } from '../inference/widgets/visitors.js';
import type { Clock } from '../lib/clock.js';
import { createEnvelope } from '../lib/crypto.js';
import { checkRegularly, cutConnections } from '../lib/cut-connections.js';
import { NetworkBudget } from '../lib/fair/network-budget.js';
import type { JsonReader } from '../lib/json-reader.js';
import { idleCloser } from '../lib/lifecycle.js';
import type { Logger } from '../lib/logger.js';
import { requireRules } from '../lib/route-rules.js';
import { SlotSet } from '../lib/slot-set.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import type { Upstream } from '../lib/upstream/upstream.js';
import type { MeterOptions } from '../metering/meter.js';
import { RefusedCalls } from '../metering/refused-calls.js';
import { addRefusedCalls } from '../metering/refused-calls.store.js';
import type { FlushResult, Meter, UsageRecord } from '../metering/usage-record.js';
import { addWidgetOutcomes } from '../metering/widget-outcomes.store.js';
import { startCacheInvalidation } from './cache-invalidation.js';
import { takeCallsFirst } from './fast-path.js';
import { openAlertSignal, openFlushSignal, openRefusedSignal } from './flush-signal.js';
import { KeepAliveGuard } from './keep-alive-guard.js';
import type { LeaderLock } from './leader-lock.js';
import { MinimumRate } from './minimum-rate.js';
import { passthrough } from './platform-proxy/passthrough.js';
import { publicServer } from './public-server.js';
import { guardRequests, knowAllMethods } from './request-guard.js';
import { capSockets, RESOURCE_LIMITS, type ResourceLimits, trustedPeer } from './resource-limits.js';
import { edgeRules } from './route-rules.js';
import { answer, v1Routes } from './v1.routes.js';
import type { V1Deps } from './v1-deps.js';
import { widgetRoutes } from './widget/widget.routes.js';

export interface EdgeDeps {
  config: Config;
  pool: Pool;
  clock: Clock;
  log: Logger;
  registry: Registry;
  /** The process's JSON reader. */
  json: JsonReader;
  upstream: Upstream;
  /** Owners and fallbacks of the upstream's models. */
  routes: ModelRoutes;
  /** Overrides RESOURCE_LIMITS in tests. */
  bounds?: Partial<ResourceLimits>;
  /** Overrides the default timeouts in tests. */
  limitTimeouts?: LimitTimeouts | undefined;
  /** Keeps this edge the only one; undefined with Redis. */
  lock?: Pick<LeaderLock, 'mayAdmit' | 'onRegained'> | undefined;
  tracing?: Tracing | undefined;
  /**
   * Creates the meter. `onFlushed` and `onTakenOver` keep balances in memory up to date. The other options give the spool this
   * edge's identity, which matters only where several edges run.
   */
  createMeter(
    onFlushed: (result: FlushResult) => void,
    identity: Required<Pick<MeterOptions, 'name' | 'onFound' | 'onReplayed' | 'onTakenOver'>>,
  ): Promise<Meter>;
}

export interface Edge {
  /** Opens the public port and returns its address. */
  listen(): Promise<string>;
  /** Whether the edge can serve requests now; `/health/ready` reports this. */
  ready(): boolean;
  /** What fails although the edge serves. */
  degraded(): string[];
  /** Stops accepting connections, lets calls in flight end within `drainMs`, and writes all pending events. */
  close(drainMs: number): Promise<void>;
}

const TOO_MANY_REFUSALS = 'Too many refused messages from this network. Try again later.';
/** How many times a call is checked before its first comment is due. */
const CHECKS_BEFORE_COMMENT = 12;
const FLUSH_ON_STOP_MS = 5_000;
/**
 * Time after the drain to send the errors of calls that it ended. Then all other connections are cut, including those of incomplete
 * requests and of requests to the platform.
 */
const LAST_ANSWERS_MS = 500;

/** Creates the edge from its dependencies: `/v1`, `/health`, widgets and the proxy to the platform. */
export async function createEdge(deps: EdgeDeps): Promise<Edge> {
  const { config, pool, clock, log, registry, json, upstream, routes, tracing } = deps;
  const bounds: ResourceLimits = { ...RESOURCE_LIMITS, ...deps.bounds };
  const metrics = createCallMetrics(registry);
  const contact = new DatabaseContact(clock);
  const catalog = await createCatalog(pool, log, contact);
  const envelope = createEnvelope('virtual-key', config.encryptionKey, config.encryptionKeyPrevious);
  const payers = new Payers({ pool, envelope, clock, log, contact });
  const { keys, widgets } = payers;
  const mayAdmit = (): boolean => deps.lock?.mayAdmit() ?? true;
  // Another edge may have admitted calls meanwhile; only the database has their charges.
  deps.lock?.onRegained(() => payers.invalidateAll());
  const identity = new EdgeIdentity();
  const limits = await createLimits({
    ...{ config, cache: keys, catalog, routes, clock, log, registry },
    identity,
    mayAdmit,
    timeouts: deps.limitTimeouts,
    readAgain: (payer) => payers.renew(payer),
  });
  keys.onCapAdded((payer) => limits.capAdded(payer));
  const signal = openFlushSignal(config, pool, log);
  const alertSignal = openAlertSignal(pool, log);
  const refusedSignal = openRefusedSignal(pool, log);
  const refused = new RefusedCalls({
    write: async (counts) => {
      await addRefusedCalls(pool, counts);
    },
    onWritten: (accountIds) => refusedSignal.notify(accountIds),
    onLost: metrics.refusalsLost,
    log,
  });
  const outcomes = new RefusedCalls({
    write: (counts) => addWidgetOutcomes(pool, counts),
    onWritten: () => undefined,
    onLost: metrics.refusalsLost,
    log,
  });
  const flushed = (result: FlushResult): void => {
    limits.flushed(result);
    for (const widget of widgets.flushed(result)) limits.messages?.changed(widget);
    signal.notify(result.accounts.map(({ id }) => id));
    alertSignal.notify(result.alerted);
    // A guard that acts fires an alert.
    if (result.alerted.length > 0) keys.guardsActed(result.alerted);
  };
  const takenOver = (records: UsageRecord[]): void => {
    for (const record of records) {
      const { accountId, keyId, widgetId, cost, createdAt } = record;
      const widget = widgetId === null ? undefined : widgets.adoptCharge(record, widgetId);
      if (widget) limits.messages?.changed(widget.state);
      const payer = widget?.payer ?? (keyId === null ? undefined : keys.payerOf(accountId, keyId));
      if (payer && cost !== 0n) limits.adoptCharge(payer, cost, createdAt);
    }
  };
  const meter = await deps.createMeter(flushed, {
    name: identity.id,
    onTakenOver: takenOver,
    onFound: (owners) => identity.notifyAdopted(owners),
    onReplayed: (owners) => identity.notifyCommitted(owners),
  });
  const listener = startCacheInvalidation({ databaseUrl: config.databaseDirectUrl!, log, payers, catalog });

  const active = new SlotSet<Relay>();
  let draining = false;
  const app = publicServer(config, bounds);
  const closing = idleCloser(app.server, { restMs: bounds.restMs });
  const keepAliveGuard = new KeepAliveGuard(app.server);
  knowAllMethods(app);
  guardRequests(app, { ...bounds, publicBaseUrl: config.publicBaseUrl }, log);
  capSockets(app.server, bounds, log, trustedPeer(config.trustProxy));
  cutConnections(app.server, bounds);
  // One timer for all calls: most end before the first check.
  const checkEveryMs = bounds.firstCommentMs / CHECKS_BEFORE_COMMENT;
  checkRegularly(app.server, checkEveryMs, () => {
    for (const call of active) {
      try {
        call.look(checkEveryMs, bounds);
      } catch (error) {
        call.onError(error as Error);
      }
    }
  });
  requireRules(app);
  const ready = (): boolean => !draining && meter.accepting() && !contact.lost() && mayAdmit();
  app.get('/health', edgeRules('none'), () => ({
    status: 'ok',
    ...(meter.accepting() && listener.connected() ? {} : { degraded: true }),
  }));
  app.get('/health/ready', edgeRules('none'), (_request, reply) => {
    const isReady = ready();
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable' });
  });
  const bodies = new BodyBudget(bounds);
  const strangerBodies = new BodyBudget(bounds.widgetBodies);
  metrics.bodyBytes(() => bodies.usedBytes + strangerBodies.usedBytes);
  const { stalledReaderMs, checkIntervalMs } = bounds;
  const minimumReadRate = new MinimumRate({
    bytesPerSecond: bounds.readBytesPerSecond,
    stallMs: stalledReaderMs,
    checkIntervalMs,
  });
  const timeouts = { headersTimeoutMs: config.upstreamTimeoutMs, bodyTimeoutMs: config.upstreamIdleMs };
  const relay = { upstream, timeouts, catalog, metrics, json };
  const minimumUploadRate = new MinimumRate({
    bytesPerSecond: bounds.uploadBytesPerSecond,
    stallMs: bounds.uploadStallMs,
    checkIntervalMs,
  });
  const v1: V1Deps = {
    ...{ cache: keys, catalog, limits, meter, refused, metrics, clock, log, routes, relay, active },
    ...{ bodies, minimumUploadRate, tracing },
    reader: { stalledReaderMs, minimumReadRate },
    allowedFields: new Set(config.allowedBodyFields),
    media: { allowPrivate: config.mediaAllowPrivate },
    served: { publicBaseUrl: config.publicBaseUrl, responses: config.responsesApi },
    responses: config.responsesApi
      ? (await import('./responses/responses.js')).createResponses(clock, json)
      : undefined,
  };
  v1Routes(app, v1);
  widgetRoutes(app, {
    ...v1,
    ...{ strangerBodies, widgets, outcomes },
    visitors: new Visitors(clock, config),
    loops: new Loops(clock),
    refusals: new NetworkBudget(clock, TOO_MANY_REFUSALS),
    sites: new SiteNames(clock),
    history: new History(config),
  });
  takeCallsFirst(app.server, {
    maxHeaders: bounds.maxHeaders,
    keepAliveGuard,
    answer: (exchange) => answer(v1, exchange),
  });
  const { platformUrls } = config;
  await app.register(async (scope) =>
    passthrough(scope, { platformUrls: platformUrls!, log, bounds, tracing }),
  );
  tracing?.watch(app.server);

  return {
    listen: () => app.listen({ host: config.host, port: config.port }),
    ready,
    degraded: () => (meter.degraded() ? ['spool_disk'] : []),
    async close(drainMs) {
      draining = true;
      keepAliveGuard.drain();
      const limit = setTimeout(() => {
        for (const call of active) call.terminate();
      }, drainMs);
      const cut = setTimeout(() => app.server.closeAllConnections(), drainMs + LAST_ANSWERS_MS);
      await closing(() => app.close());
      clearTimeout(limit);
      clearTimeout(cut);
      // Calls that still wait for their usage after their client has left. They have no open connection.
      for (const call of active) call.terminate();
      await meter.drain(FLUSH_ON_STOP_MS);
      await meter.stop();
      await refused.stop();
      await outcomes.stop();
      await signal.stop();
      await alertSignal.stop();
      await refusedSignal.stop();
      await limits.stop();
      await listener.stop();
      catalog.stop();
      payers.stop();
    },
  };
}
