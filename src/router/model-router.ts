import type { Registry } from 'prom-client';
import type { JsonReader } from '../lib/json-reader.js';
import type { Logger } from '../lib/logger.js';
import { AnswerMemory } from './answer-memory.js';
import { createAttempts } from './attempts.js';
import type { Random } from './group.js';
import { HostRegistry, type SteeringNode } from './host-registry.js';
import { NodeMask } from './node-mask.js';
import type { RoutedCallDeps, RouterTimeouts } from './routed-call.js';
import { createRouter, type Router, type RouterDeps } from './router.js';
import { createRouterMetrics } from './router-metrics.js';
import type { Routing } from './routing.js';
import { type ProxyTime, processTime } from './time.js';

/** More than a working node needs for one token, and short enough for a call to wait. */
const MAX_PROBE_MS = 5_000;

export interface ModelRouterDeps {
  routing: Routing;
  /** Defaults where the routing file sets none. */
  timeouts: Omit<RouterTimeouts, 'totalMs'>;
  log: Logger;
  json: JsonReader;
  registry?: Registry | undefined;
  /** `processTime` by default. */
  time?: ProxyTime | undefined;
  /** Source of the shuffle; `Math.random` by default. */
  random?: Random | undefined;
  /** Bytes for large whole answers beside the one that has the turn; see answer-memory.ts for the default. */
  answerBytes?: number | undefined;
}

/** Sends calls of models to the deployments of a routing file. */
export interface ModelRouter {
  /** What take-call.ts needs. */
  readonly calls: RoutedCallDeps;
  /** The routing in force. */
  routing(): Routing;
  /** The router of that routing. */
  current(): Router;
  /** Applies another reading of the file from the next try on. Attempts in flight continue. */
  reload(routing: Routing): void;
  /** Applies another reading of the node registry from the next try on. */
  steer(nodes: readonly SteeringNode[]): void;
  /** Calls in flight at a host and port (lib/endpoint-key.ts). */
  inFlight(endpointKey: string): number;
  /** Number of deployments at a host and port. */
  deploymentsAt(endpointKey: string): number;
  /** Calls `listener` whenever the last call to a closed node ends. */
  onNodeIdle(listener: () => void): void;
  /** Stops probing. Calls in flight continue. */
  drain(): void;
  /** Aborts the calls that are left. */
  close(): void;
}

export function createModelRouter(deps: ModelRouterDeps): ModelRouter {
  const { log } = deps;
  const answers = new AnswerMemory(deps.answerBytes);
  const mask = new NodeMask(deps.routing);
  const attempts = createAttempts(answers, deps.json, mask.apply);
  const time = deps.time ?? processTime;
  let { routing } = deps;
  let router: Router;
  const metrics = createRouterMetrics(deps.registry, () => router.states());
  metrics.answers(() => answers.usedBytes);
  const firstByteMs = (): number => routing.settings.timeoutMs ?? deps.timeouts.firstByteMs;
  const ending = new AbortController();
  let onIdle = (): void => undefined;
  const hosts = new HostRegistry(() => onIdle());
  const routerDeps: RouterDeps = {
    time,
    hosts,
    ending: ending.signal,
    log,
    metrics,
    probing: new Map(),
    probe: (deployment, path) =>
      attempts.probe(deployment, path, Math.min(MAX_PROBE_MS, deployment.timeoutMs ?? firstByteMs())),
  };
  router = createRouter(routing, routerDeps);

  return {
    calls: {
      router: () => router,
      attempts,
      time,
      random: deps.random ?? Math.random,
      metrics,
      timeouts: () => ({
        firstByteMs: firstByteMs(),
        totalMs: deps.timeouts.firstByteMs,
        idleMs: deps.timeouts.idleMs,
      }),
    },
    routing: () => routing,
    current: () => router,
    reload(next) {
      routing = next;
      router = createRouter(next, routerDeps, router);
      attempts.retain(next.deployments);
      mask.reload(next);
    },
    steer(nodes) {
      router.steer(nodes);
      mask.steer(nodes);
    },
    inFlight: (key) => hosts.inFlight(key),
    deploymentsAt: (key) => router.deploymentsAt(key),
    onNodeIdle(listener) {
      onIdle = listener;
    },
    drain: () => ending.abort(),
    close() {
      ending.abort();
      attempts.close();
    },
  };
}
