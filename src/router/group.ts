import type { DeploymentLimits } from './deployment-limits.js';
import type { Health } from './health.js';
import type { Availability, Gate } from './node-gate.js';
import type { BoundField } from './output-bound.js';
import type { Deployment } from './routing.js';

/** A deployment that takes calls. */
export interface Candidate {
  readonly deployment: Deployment;
  readonly health: Health;
  readonly gate: Gate;
  readonly limits: DeploymentLimits;
  /** The only bound field that the node accepts, learnt from its refusals. */
  readonly bound: { field: BoundField | undefined };
}

/** Milliseconds until a deployment takes calls again: it is cooling down, or has reached a limit per minute. 0 if it takes calls now. */
export const closedFor = ({ health, limits }: Candidate, now: number): number =>
  Math.max(health.cooldownLeft(now), limits.waitMs(now));

/** `full`: open, but another call would wait for one that is running. */
function preferenceOf(candidate: Candidate, now: number): Availability | 'full' {
  if (closedFor(candidate, now) > 0) return 'closed';
  const { health, gate, limits } = candidate;
  const availability = gate.availability(now, health.isUnproven(now));
  return availability === 'open' && limits.isFull ? 'full' : availability;
}

/** Whether a deployment takes calls now. One with all its parallel calls is avoided: another call would wait there. */
export function availabilityOf(candidate: Candidate, now: number): Availability {
  const preference = preferenceOf(candidate, now);
  return preference === 'full' ? 'avoided' : preference;
}

/** Numbers in [0, 1). */
export type Random = () => number;

/** The deployments of one public model. */
export class Group {
  constructor(
    readonly name: string,
    readonly candidates: readonly Candidate[],
  ) {}

  /** Whether every deployment is cooling down, at a limit per minute, or on a closed node. */
  isUnavailable(now: number): boolean {
    return this.candidates.every(
      (candidate) => candidate.gate.host.intent === 'closed' || closedFor(candidate, now) > 0,
    );
  }

  /** Milliseconds until the first deployment takes calls again; infinite while all nodes are closed. */
  unavailableFor(now: number): number {
    const waits = this.candidates.map((candidate) =>
      candidate.gate.host.intent === 'closed' ? Number.POSITIVE_INFINITY : closedFor(candidate, now),
    );
    return Math.min(...waits);
  }

  /**
   * Simple shuffle: picks a deployment that is open and not in `tried`, at random by weight. Falls back to full deployments,
   * where the call waits, and then to avoided ones. Returns undefined if no deployment is left.
   */
  pick(now: number, random: Random, tried: ReadonlySet<Health>): Candidate | undefined {
    const [only] = this.candidates;
    if (this.candidates.length === 1)
      return tried.has(only!.health) || availabilityOf(only!, now) === 'closed' ? undefined : only;
    const full: Candidate[] = [];
    const avoided: Candidate[] = [];
    const open = this.candidates.filter((candidate) => {
      if (tried.has(candidate.health)) return false;
      const preference = preferenceOf(candidate, now);
      if (preference === 'full') full.push(candidate);
      if (preference === 'avoided') avoided.push(candidate);
      return preference === 'open';
    });
    const free = [open, full, avoided].find(({ length }) => length > 0) ?? [];
    const total = free.reduce((sum, { deployment }) => sum + deployment.weight, 0);
    if (total === 0) return free[Math.floor(random() * free.length)];
    let left = random() * total;
    for (const candidate of free) {
      left -= candidate.deployment.weight;
      if (left < 0) return candidate;
    }
    // Rounding may leave a remainder: take the last deployment with a weight.
    return free.findLast(({ deployment }) => deployment.weight > 0);
  }
}
