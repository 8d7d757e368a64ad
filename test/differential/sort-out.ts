import { type Difference, scenarioOf } from './compare.js';
import type { Wanted } from './wanted.js';

const NOT_A_PART = /^$/;
/** Of a scenario: sums over its requests. */
const SUM = /^(?:balance|ledger|message days|runs|other usage)$/;
/** What sums are made of. */
const SUMMED = /^(?:usage|ledger)\.(?:status|cost|amount)$/;

/** Whether a difference is the one that an entry describes. */
const matches = (
  { requests, part, baseline, now, without, script }: Wanted,
  one: Difference,
  scriptOf: (id: string) => string,
): boolean =>
  requests.test(one.id) &&
  part.test(one.part) &&
  (baseline?.test(one.baseline ?? '') ?? true) &&
  (now?.test(one.now ?? '') ?? true) &&
  (without === undefined ||
    (one.baseline ?? '').replace(without, '') === (one.now ?? '').replace(without, '')) &&
  (script?.test(scriptOf(one.id)) ?? true);

/**
 * Finds the differences that no entry wants, and the entries that nothing matches. An entry wants what it describes, and what
 * follows from that in the same request. Sums of a scenario follow from its requests.
 * @param scriptOf What the nodes answer to a request, as text.
 */
export function sortOut(
  differences: readonly Difference[],
  wanted: readonly Wanted[],
  scriptOf: (id: string) => string,
): { unwanted: Difference[]; stale: Wanted[] } {
  const used = new Set<Wanted>();
  const listed = new Set<Difference>();
  for (const same of Map.groupBy(differences, ({ id }) => id).values()) {
    for (const entry of wanted) {
      const found = same.filter((one) => matches(entry, one, scriptOf));
      if (found.length === 0) continue;
      used.add(entry);
      const brings = entry.brings ?? NOT_A_PART;
      const hasBody = found.some(({ part }) => part === 'body');
      for (const one of same) {
        const follows = brings.test(one.part) || (hasBody && one.part === 'header content-length');
        if (follows || found.includes(one)) listed.add(one);
      }
    }
  }
  const moved = new Set([...listed].filter(({ part }) => SUMMED.test(part)).map(scenarioOf));
  return {
    unwanted: differences.filter((one) => !listed.has(one) && !(SUM.test(one.part) && moved.has(one.id))),
    stale: wanted.filter((entry) => !used.has(entry)),
  };
}
