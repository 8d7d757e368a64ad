import type { Health } from './health.js';
import type { Deployment } from './routing.js';

/** A deployment that takes calls. */
export interface Candidate {
  readonly deployment: Deployment;
  readonly health: Health;
}

/** Numbers in [0, 1). */
export type Random = () => number;

/** The deployments of one public model. */
export class Group {
  constructor(
    readonly name: string,
    readonly candidates: readonly Candidate[],
  ) {}

  /** Whether every deployment is cooling down. */
  isParked(now: number): boolean {
    return this.candidates.every(({ health }) => health.isParked(now));
  }

  /** Milliseconds until the first of them takes calls again. */
  parkedFor(now: number): number {
    return Math.min(...this.candidates.map(({ health }) => health.parkedFor(now)));
  }

  /**
   * Simple shuffle: one of those that are neither parked nor in `tried`, each as likely as its weight says. Undefined
   * when there is none.
   */
  pick(now: number, random: Random, tried: ReadonlySet<Candidate>): Candidate | undefined {
    const [only] = this.candidates;
    if (this.candidates.length === 1)
      return tried.has(only!) || only!.health.isParked(now) ? undefined : only;
    const free = this.candidates.filter(
      (candidate) => !tried.has(candidate) && !candidate.health.isParked(now),
    );
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
