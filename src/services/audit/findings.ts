import type { Invariant, Query } from './invariant.js';
import { invariants } from './invariants.js';

export interface Finding {
  invariant: Invariant;
  /** 0 when the invariant holds. */
  violations: number;
  /** Some of the rows concerned. */
  subjects: string[];
}

const SAMPLE = 5;

/** What an audit has found so far, invariant by invariant. */
export class Findings {
  readonly all: readonly Finding[] = invariants.map((invariant) => ({
    invariant,
    violations: 0,
    subjects: [],
  }));

  get violated(): readonly Finding[] {
    return this.all.filter(({ violations }) => violations > 0);
  }

  add({ violated }: Findings): void {
    for (const { invariant, violations, subjects } of violated) {
      const finding = this.all.find((one) => one.invariant === invariant)!;
      finding.violations += violations;
      finding.subjects = [...finding.subjects, ...subjects].slice(0, SAMPLE);
    }
  }
}

/** Runs the chosen statement of each invariant that has one. */
export async function findViolations(
  query: Query,
  choose: (invariant: Invariant) => string | undefined,
): Promise<Findings> {
  const findings = new Findings();
  for (const finding of findings.all) {
    const statement = choose(finding.invariant);
    if (statement === undefined) continue;
    const [found] = await query<{ violations: string; subjects: string[] | null }>(`
      with found as materialized (${statement})
      select (select count(*) from found) as violations,
        (select array_agg(subject::text) from (select subject from found limit ${SAMPLE}) sample) as subjects`);
    finding.violations = Number(found!.violations);
    finding.subjects = found!.subjects ?? [];
  }
  return findings;
}
