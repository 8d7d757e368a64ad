import { isDeepStrictEqual } from 'node:util';
import { endpointKey } from '../lib/endpoint-key.js';
import type { Logger } from '../lib/logger.js';
import { DeploymentLimits } from './deployment-limits.js';
import { availabilityOf, type Candidate, Group } from './group.js';
import { Health, type HealthChange, type NodeFailure } from './health.js';
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

/** The deployments of one reading of the routing file, with their state. */
export interface Router {
  readonly settings: RouterSettings;
  /** Every deployment, in the file's order. */
  readonly candidates: readonly Candidate[];
  /** The groups that may answer for a model: its own, then its fallbacks. Empty for an unknown model. */
  groupsFor(model: string): readonly Group[];
  /** Public names in the file's order. */
  models(): PublicModel[];
  states(): DeploymentState[];
  /** Number of deployments at a host and port (lib/endpoint-key.ts). */
  deploymentsAt(key: string): number;
  /** Reports a whole answer of a deployment to a call on `path`. */
  succeeded(candidate: Candidate, path: string): void;
  /**
   * Reports a call that failed through the deployment's fault. If requests may be the cause, the node is probed before its cooldown
   * begins; the promise resolves when that is decided, and never rejects.
   */
  failed(candidate: Candidate, failure: CallFailure): Promise<void> | undefined;
  /** Reports that the provider of a deployment wants no calls for a time. @returns Whether that closes it. */
  limited(candidate: Candidate, waitMs: number): boolean;
  /** Whether a deployment has answered any call since `since`; probes it if not. Never rejects. */
  serves(candidate: Candidate, since: number): boolean | Promise<boolean>;
  /** Applies another reading of the node registry from the next try on. */
  steer(nodes: readonly SteeringNode[]): void;
  /** Probes a deployment whose node came back until it answers. Until then, others are preferred. */
  warmUp(candidate: Candidate): void;
  /** Stops warm-up probes: the router of the next reading sends them from now on. */
  retire(): void;
}

interface CallFailure extends NodeFailure {
  reason: string;
}

export interface RouterDeps {
  time: ProxyTime;
  log: Logger;
  metrics: Pick<RouterMetrics, 'cooledDown' | 'probed'>;
  /** Whether a node answers a probe, on `path` if that is known. Never rejects. */
  probe(deployment: Deployment, path: string | undefined): Promise<boolean>;
  /** Probes in flight, including those of earlier routers. */
  probing: Map<Health, Promise<boolean>>;
  hosts: HostRegistry;
  /** Aborted when the process ends. */
  ending: AbortSignal;
}

/** Whether a deployment is unchanged after a reload, so that its state still applies. */
function isSame(a: Deployment, b: Deployment): boolean {
  const [one, other] = [a.node.read(), b.node.read()];
  return a.group === b.group && isDeepStrictEqual(one, other);
}

function candidatesOf(
  deployments: readonly Deployment[],
  before: readonly Candidate[],
  hosts: HostRegistry,
): Candidate[] {
  const known = new Map(before.map((candidate) => [candidate.deployment.id, candidate]));
  return deployments.map((deployment) => {
    const old = known.get(deployment.id);
    if (old && isSame(old.deployment, deployment))
      return { ...old, deployment, limits: old.limits.change(deployment.limits) };
    const gate = new Gate(hosts.at(deployment.node.read().apiBase));
    const limits = new DeploymentLimits(deployment.limits);
    return { deployment, health: new Health(), gate, limits, bound: { field: undefined } };
  });
}

/** Probes a deployment; concurrent callers share one probe. */
function sharedProbe(
  { probe, probing, metrics }: RouterDeps,
  onServing: (candidate: Candidate) => void,
): (candidate: Candidate) => Promise<boolean> {
  return (candidate) => {
    const { deployment, health } = candidate;
    let running = probing.get(health);
    if (!running) {
      running = probe(deployment, health.path).then((serves) => {
        probing.delete(health);
        metrics.probed(deployment, serves);
        if (serves) onServing(candidate);
        return serves;
      });
      probing.set(health, running);
    }
    return running;
  };
}

/** Creates the router of a routing and retires the one `before` it. Unchanged deployments keep their state. */
export function createRouter(
  { deployments, settings }: Pick<Routing, 'deployments' | 'settings'>,
  deps: RouterDeps,
  before?: Router,
): Router {
  const { time, log, metrics } = deps;
  const candidates = candidatesOf(deployments, before?.candidates ?? [], deps.hosts);
  const byHost = Map.groupBy(candidates, ({ deployment }) => endpointKey(deployment.node.read().apiBase));
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
  const chains = new Map(
    [...groups].map(([name, group]) => {
      const standIns = (settings.fallbacks.get(name) ?? []).flatMap((other) => groups.get(other) ?? []);
      return [name, [group, ...standIns.filter((other) => other !== group)]] as const;
    }),
  );
  const report = (
    change: HealthChange,
    candidate: Candidate,
    { reason, cause }: Partial<CallFailure> = {},
  ): void => {
    const { deployment } = candidate;
    const { id, group } = deployment;
    if (change === 'limited') {
      const waitMs = Math.ceil(candidate.health.cooldownLeft(time.now()));
      log.warn(
        { deployment: id, model: group, waitMs },
        'the provider of a deployment wants no calls for a time',
      );
    }
    if (change === 'serving') log.info({ deployment: id, model: group }, 'a deployment serves again');
    if (change !== 'cooling_down' && change !== 'cooling_down_again') return;
    metrics.cooledDown(deployment);
    const now = time.now();
    const left = groups.get(group)?.candidates.filter((one) => !one.health.isCoolingDown(now)).length ?? 0;
    const facts = { deployment: id, model: group, reason, cause, cooldownMs: settings.cooldownMs, left };
    if (change === 'cooling_down') log.warn(facts, 'a deployment is parked');
    else log.debug(facts, 'a deployment is parked again');
  };
  const probeOnce = sharedProbe(deps, (candidate) =>
    report(candidate.health.succeeded(time.now()), candidate),
  );
  const warmUpProbes = new WarmUpProbes(deps, candidates, probeOnce, (candidate) =>
    report(candidate.health.returned(time.now()), candidate),
  );
  if (before) {
    before.retire();
    // A new deployment on a registered node must answer a probe first.
    const known = new Set(before.candidates.map(({ gate }) => gate));
    for (const candidate of candidates) {
      const { gate } = candidate;
      if (!known.has(gate) && gate.host.governed) gate.warm();
      if (gate.warming) warmUpProbes.start(gate);
    }
  }
  return {
    settings,
    candidates,
    warmUp: ({ gate }) => warmUpProbes.start(gate),
    retire: () => warmUpProbes.retire(),
    steer(nodes) {
      const intentBefore = new Map(candidates.map(({ gate: { host } }) => [host, host.intent]));
      const back = deps.hosts.steer(nodes);
      for (const candidate of candidates) {
        const { host } = candidate.gate;
        const { id, group } = candidate.deployment;
        if (host.intent !== intentBefore.get(host)) {
          log.info(
            { deployment: id, model: group, calls: host.intent },
            'the node of a deployment changed state',
          );
        }
        if (back.has(host)) candidate.gate.warm();
        // Also without `back`: if the node's entry is gone, only the gate keeps calls away.
        if (candidate.gate.warming) warmUpProbes.start(candidate.gate);
      }
    },
    groupsFor: (model) => chains.get(model) ?? [],
    deploymentsAt: (key) => byHost.get(key)?.length ?? 0,
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
        cooldownLeftMs: candidate.health.cooldownLeft(now),
        availability: availabilityOf(candidate, now),
        inFlight: candidate.gate.host.inFlight,
      }));
    },
    succeeded(candidate, path) {
      report(candidate.health.succeeded(time.now(), path), candidate);
    },
    failed(candidate, failure) {
      const { health } = candidate;
      const change = health.failed(time.now(), settings, failure);
      if (change !== 'suspect') {
        report(change, candidate, failure);
        return undefined;
      }
      const since = time.now();
      return probeOnce(candidate).then((serves) => {
        // The probe may have waited behind calls that the node was busy answering.
        if (!serves && !health.answeredAfter(since))
          report(health.coolDown(time.now(), settings), candidate, failure);
      });
    },
    limited(candidate, waitMs) {
      if (settings.cooldownMs === 0) return false;
      const change = candidate.health.limit(time.now(), waitMs, settings);
      report(change, candidate);
      return true;
    },
    serves: (candidate, since) =>
      candidate.health.answeredSince(since) ||
      probeOnce(candidate).then((serves) => serves || candidate.health.answeredSince(since)),
  };
}
