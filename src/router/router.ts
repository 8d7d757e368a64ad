import { endpointKey } from '../lib/endpoint-key.js';
import type { Logger } from '../lib/logger.js';
import { type Candidate, Group, standingOf } from './group.js';
import { type Change, Health, type NodeFailure } from './health.js';
import type { HostRegistry, SteeringNode } from './host-registry.js';
import { Gate } from './node-gate.js';
import type { RouterMetrics } from './router-metrics.js';
import type { Deployment, DeploymentState, RouterSettings, Routing } from './routing.js';
import type { ProxyTime } from './time.js';
import { WarmUpProbes } from './warm-up-probes.js';

export interface PublicModel {
  name: string;
  ownedBy: 'simulator' | 'gateway';
}

/** Where calls may go, by one reading of the routing file. */
export interface Router {
  readonly settings: RouterSettings;
  /** Every deployment, in the file's order. */
  readonly candidates: readonly Candidate[];
  /** The groups that may answer for a model: its own, then its fallbacks. Empty if no such model is routed. */
  line(model: string): readonly Group[];
  /** Public names in the file's order. */
  models(): PublicModel[];
  states(): DeploymentState[];
  /** How many deployments have a host and port (lib/endpoint-key.ts). */
  deploymentsAt(key: string): number;
  /** Reports a whole answer of a deployment to a call on `path`. */
  succeeded(candidate: Candidate, path: string): void;
  /**
   * Reports a call that failed by the deployment's fault. Where requests may be the reason, the node is asked before it
   * is parked; the promise ends when that is decided, and never rejects.
   */
  failed(candidate: Candidate, failure: CallFailure): Promise<void> | undefined;
  /** Whether a deployment has answered anyone since then; if it hasn't, it is asked. Never rejects. */
  serves(candidate: Candidate, since: number): boolean | Promise<boolean>;
  /** Applies a new reading of the node registry, from the next try on. */
  steer(nodes: readonly SteeringNode[]): void;
  /** Asks a deployment whose node came back until it answers; until then others are preferred. */
  readmit(candidate: Candidate): void;
  /** Another reading of the file is in force: from now on that one's router asks nodes that came back. */
  retire(): void;
}

interface CallFailure extends NodeFailure {
  reason: string;
}

export interface RouterDeps {
  time: ProxyTime;
  log: Logger;
  metrics: Pick<RouterMetrics, 'parked' | 'probed'>;
  /** Asks a node by a small call of our own whether it serves, on `path` where that is known. Never rejects. */
  probe(deployment: Deployment, path: string | undefined): Promise<boolean>;
  /** Such calls under way, also those of the routers before. */
  asking: Map<Health, Promise<boolean>>;
  sites: HostRegistry;
  /** Aborted when the process ends. */
  ending: AbortSignal;
}

/** Whether a deployment of the reloaded file is the same as before, so that its state still applies. */
function isSame(a: Deployment, b: Deployment): boolean {
  const [one, other] = [a.node.read(), b.node.read()];
  return (
    a.group === b.group &&
    one.apiBase === other.apiBase &&
    one.upstreamModel === other.upstreamModel &&
    one.apiKey === other.apiKey
  );
}

function candidatesOf(
  deployments: readonly Deployment[],
  before: readonly Candidate[],
  sites: HostRegistry,
): Candidate[] {
  const known = new Map(before.map((candidate) => [candidate.deployment.id, candidate]));
  return deployments.map((deployment) => {
    const old = known.get(deployment.id);
    if (old && isSame(old.deployment, deployment)) return { ...old, deployment };
    const gate = new Gate(sites.at(deployment.node.read().apiBase));
    return { deployment, health: new Health(), gate, bound: { field: undefined } };
  });
}

/** Asks nodes whether they serve: each once at a time, however many calls want to know. */
function askerOf(
  { probe, asking, metrics }: RouterDeps,
  onServing: (candidate: Candidate) => void,
): (candidate: Candidate) => Promise<boolean> {
  return (candidate) => {
    const { deployment, health } = candidate;
    let asked = asking.get(health);
    if (!asked) {
      asked = probe(deployment, health.path).then((serves) => {
        asking.delete(health);
        metrics.probed(deployment, serves);
        if (serves) onServing(candidate);
        return serves;
      });
      asking.set(health, asked);
    }
    return asked;
  };
}

/**
 * A router for a routing. It takes over from the one `before` it: deployments that are still there keep their state.
 */
export function createRouter(
  { deployments, settings }: Pick<Routing, 'deployments' | 'settings'>,
  deps: RouterDeps,
  before?: Router,
): Router {
  const { time, log, metrics } = deps;
  const candidates = candidatesOf(deployments, before?.candidates ?? [], deps.sites);
  const places = Map.groupBy(candidates, ({ deployment }) => endpointKey(deployment.node.read().apiBase));
  const groups = new Map<string, Group>();
  for (const { deployment } of candidates) {
    const { group: name } = deployment;
    if (groups.has(name)) continue;
    groups.set(
      name,
      new Group(
        name,
        candidates.filter((one) => one.deployment.group === name),
      ),
    );
  }
  const lines = new Map(
    [...groups].map(([name, group]) => {
      const standIns = (settings.fallbacks.get(name) ?? []).flatMap((other) => groups.get(other) ?? []);
      return [name, [group, ...standIns.filter((other) => other !== group)]] as const;
    }),
  );
  const tell = (
    change: Change,
    { deployment }: Candidate,
    { reason, cause }: Partial<CallFailure> = {},
  ): void => {
    const { id, group } = deployment;
    if (change === 'serving') log.info({ deployment: id, model: group }, 'a deployment serves again');
    if (change !== 'parked' && change !== 'parked_again') return;
    metrics.parked(deployment);
    const now = time.now();
    const left = groups.get(group)?.candidates.filter((one) => !one.health.isParked(now)).length ?? 0;
    const facts = { deployment: id, model: group, reason, cause, cooldownMs: settings.cooldownMs, left };
    if (change === 'parked') log.warn(facts, 'a deployment is parked');
    else log.debug(facts, 'a deployment is parked again');
  };
  const ask = askerOf(deps, (candidate) => tell(candidate.health.succeeded(time.now()), candidate));
  const readmitter = new WarmUpProbes(deps, candidates, ask, (candidate) =>
    tell(candidate.health.returned(time.now()), candidate),
  );
  if (before) {
    before.retire();
    // What is new on a node of the registry shows that it serves before it counts.
    const known = new Set(before.candidates.map(({ gate }) => gate));
    for (const candidate of candidates) {
      const { gate } = candidate;
      if (!known.has(gate) && gate.host.governed) gate.warm();
      if (gate.warming) readmitter.readmit(gate);
    }
  }
  return {
    settings,
    candidates,
    readmit: ({ gate }) => readmitter.readmit(gate),
    retire: () => readmitter.retire(),
    steer(nodes) {
      const wantedBefore = new Map(candidates.map(({ gate: { host } }) => [host, host.wanted]));
      const back = deps.sites.steer(nodes);
      for (const candidate of candidates) {
        const { host } = candidate.gate;
        const { id, group } = candidate.deployment;
        if (host.wanted !== wantedBefore.get(host)) {
          log.info(
            { deployment: id, model: group, calls: host.wanted },
            'the node of a deployment has changed',
          );
        }
        if (back.has(host)) candidate.gate.warm();
        // Also one that isn't back: where its entry is gone, nothing but the gate keeps calls away.
        if (candidate.gate.warming) readmitter.readmit(candidate.gate);
      }
    },
    line: (model) => lines.get(model) ?? [],
    deploymentsAt: (key) => places.get(key)?.length ?? 0,
    models: () =>
      [...groups.values()].map(({ name, candidates: members }) => ({
        name,
        ownedBy: members.some(({ deployment }) => deployment.simulated) ? 'simulator' : 'gateway',
      })),
    states: () => {
      const now = time.now();
      return candidates.map((candidate) => ({
        deployment: candidate.deployment,
        fails: candidate.health.fails,
        lastFailure: candidate.health.lastFailure,
        parkedForMs: candidate.health.parkedFor(now),
        standing: standingOf(candidate, now),
        inFlight: candidate.gate.host.inFlight,
      }));
    },
    succeeded(candidate, path) {
      tell(candidate.health.succeeded(time.now(), path), candidate);
    },
    failed(candidate, failure) {
      const { health } = candidate;
      const change = health.failed(time.now(), settings, failure);
      if (change !== 'suspect') {
        tell(change, candidate, failure);
        return undefined;
      }
      const since = time.now();
      return ask(candidate).then((serves) => {
        // Our call may only have waited behind others that the node was busy answering.
        if (!serves && !health.answeredAfter(since))
          tell(health.park(time.now(), settings), candidate, failure);
      });
    },
    serves: (candidate, since) =>
      candidate.health.answeredSince(since) ||
      ask(candidate).then((serves) => serves || candidate.health.answeredSince(since)),
  };
}
