import type { Health } from './health.js';
import type { Gate, HostIntent } from './node-gate.js';
import type { BoundField } from './output-bound.js';
import type { Deployment } from './routing.js';

/** A deployment that takes calls. */
export interface Candidate {
  readonly deployment: Deployment;
  readonly health: Health;
  readonly gate: Gate;
  /** The only field for a bound that its node takes, as it has said. */
  readonly bound: { field: BoundField | undefined };
}

/** Whether a deployment takes calls at the moment: `closed` for one that is parked, too. */
export function standingOf({ health, gate }: Candidate, now: number): HostIntent {
  return health.isParked(now) ? 'closed' : gate.standing(now, health.isTrying(now));
}

/** Numbers in [0, 1). */
export type Random = () => number;

/** The deployments of one public model. */
export class Group {
  constructor(
    readonly name: string,
    readonly candidates: readonly Candidate[],
  ) {}

  /** Whether every deployment is cooling down, or on a node that takes no calls. */
  isParked(now: number): boolean {
    return this.candidates.every(({ health, gate }) => health.isParked(now) || gate.host.wanted === 'closed');
  }

  /** Milliseconds until the first of them takes calls again; infinite while all their nodes are closed. */
  parkedFor(now: number): number {
    const waits = this.candidates.map(({ health, gate }) =>
      gate.host.wanted === 'closed' ? Number.POSITIVE_INFINITY : health.parkedFor(now),
    );
    return Math.min(...waits);
  }

  /**
   * Simple shuffle: one of those that are neither parked nor in `tried`, each as likely as its weight says. Those to avoid
   * are taken when there are no others. Undefined when there is none.
   */
  pick(now: number, random: Random, tried: ReadonlySet<Health>): Candidate | undefined {
    const [only] = this.candidates;
    if (this.candidates.length === 1)
      return tried.has(only!.health) || standingOf(only!, now) === 'closed' ? undefined : only;
    const avoided: Candidate[] = [];
    const open = this.candidates.filter((candidate) => {
      if (tried.has(candidate.health)) return false;
      const standing = standingOf(candidate, now);
      if (standing === 'avoided') avoided.push(candidate);
      return standing === 'open';
    });
    const free = open.length > 0 ? open : avoided;
    const total = free.reduce((sum, { deployment }) => sum + deployment.weight, 0);
    if (total === 0) return free[Math.floor(random() * free.length)];
    let left = random() * total;
    for (const candidate of free) {
      left -= candidate.deployment.weight;
      if (left < 0) return candidate;
    }
    // Sums of fractions may fall short by a rounding: the last that takes calls at all.
    return free.findLast(({ deployment }) => deployment.weight > 0);
  }
}
