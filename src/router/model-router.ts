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

/** Above what a node that serves takes for one token, and short enough for a call to wait for. */
const MAX_PROBE_MS = 5_000;

export interface ModelRouterDeps {
  routing: Routing;
  /** Where the routing file says nothing. */
  timeouts: Omit<RouterTimeouts, 'totalMs'>;
  log: Logger;
  /** The process's own. */
  json: JsonReader;
  registry?: Registry | undefined;
  /** The process's own unless a test moves it by hand. */
  time?: ProxyTime | undefined;
  /** Decides the shuffle. */
  random?: Random | undefined;
  /** Bytes for large whole answers beside the one that has the turn; the product's unless a test wants to fill them. */
  answerBytes?: number | undefined;
}

/** Sends calls of models to the deployments of a routing file. */
export interface ModelRouter {
  /** What a call needs (take-call.ts). */
  readonly calls: RoutedCallDeps;
  /** The file in force. */
  routing(): Routing;
  /** The router for that file. */
  current(): Router;
  /** Routes by another reading of the file from the next try on; calls in flight go on. */
  reload(routing: Routing): void;
  /** Routes by another reading of the node registry, from the next try on. */
  steer(nodes: readonly SteeringNode[]): void;
  /** Calls under way at a host and port (lib/endpoint-key.ts). */
  inFlight(endpointKey: string): number;
  /** How many deployments of the routing file are there. */
  deploymentsAt(endpointKey: string): number;
  /** Called whenever the last call to a node ends that takes no new ones. */
  onNodeIdle(listener: () => void): void;
  /** Sends no more small calls of its own; calls in flight go on. */
  drain(): void;
  /** Ends what is left. */
  close(): void;
}

/** The router as a function of its dependencies. */
export function createModelRouter(deps: ModelRouterDeps): ModelRouter {
  const { log } = deps;
  const answers = new AnswerMemory(deps.answerBytes);
  const mask = new NodeMask(deps.routing);
  const relay = createAttempts(answers, deps.json, mask.apply);
  const time = deps.time ?? processTime;
  let { routing } = deps;
  let router: Router;
  const metrics = createRouterMetrics(deps.registry, () => router.states());
  metrics.answers(() => answers.usedBytes);
  const firstByteMs = (): number => routing.settings.timeoutMs ?? deps.timeouts.firstByteMs;
  const ending = new AbortController();
  let nodeIsIdle = (): void => undefined;
  const sites = new HostRegistry(() => nodeIsIdle());
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

  return {
    calls: {
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
    },
    routing: () => routing,
    current: () => router,
    reload(next) {
      routing = next;
      router = createRouter(next, routerDeps, router);
      relay.retain(next.deployments);
      mask.reload(next);
    },
    steer(nodes) {
      router.steer(nodes);
      mask.steer(nodes);
    },
    inFlight: (key) => sites.inFlight(key),
    deploymentsAt: (key) => router.deploymentsAt(key),
    onNodeIdle(listener) {
      nodeIsIdle = listener;
    },
    drain: () => ending.abort(),
    close() {
      ending.abort();
      relay.close();
    },
  };
}
