import type { Difference } from './compare.js';

const SHOWN_CHARACTERS = 400;
const SHOWN_BEFORE = 120;
const SHOWN_IDS = 4;

/** A value, from shortly before the difference. */
function shown(value: string | undefined, place: number): string {
  if (value === undefined) return '(absent)';
  const from = Math.max(0, place - SHOWN_BEFORE);
  const part = value.slice(from, from + SHOWN_CHARACTERS);
  return `${from > 0 ? `…${from} ` : ''}${part}${from + part.length < value.length ? ` …${value.length}` : ''}`;
}

function placeOf({ baseline = '', now = '' }: Difference): number {
  let at = 0;
  while (at < baseline.length && baseline[at] === now[at]) at++;
  return at;
}

/** Differences as readable lines, without repetitions. */
export function reportOf(differences: readonly Difference[]): string[] {
  const groups = Map.groupBy(differences, ({ part, baseline, now }) => JSON.stringify([part, baseline, now]));
  return [...groups.values()].map((same) => {
    const [first] = same;
    const ids = same.slice(0, SHOWN_IDS).map(({ id }) => id);
    const more = same.length > SHOWN_IDS ? ` and ${same.length - SHOWN_IDS} more` : '';
    const place = placeOf(first!);
    return [
      `${first!.part}: ${ids.join(', ')}${more}`,
      `  baseline: ${shown(first!.baseline, place)}`,
      `  now:      ${shown(first!.now, place)}`,
    ].join('\n');
  });
}
