/** A line of an export: its cells by the names of their columns. */
export type ExportRecord = Record<string, string>;

/** Lists of lines, by the names that providers give them. */
const LISTS = ['data', 'results', 'items'];
const DEEPEST = 4;

const scalars = (value: object): ExportRecord =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (typeof one === 'string' || typeof one === 'number') return [[name, String(one)]];
      // Counts in an object of their own, such as `cache_creation`.
      if (one !== null && typeof one === 'object' && !Array.isArray(one))
        return Object.entries(one as object).flatMap(([inner, count]) =>
          typeof count === 'number' ? [[inner, String(count)]] : [],
        );
      return [];
    }),
  );

function* recordsIn(value: unknown, outer: ExportRecord, depth: number): Generator<ExportRecord> {
  if (depth > DEEPEST || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const one of value) yield* recordsIn(one, outer, depth + 1);
    return;
  }
  const own = { ...outer, ...scalars(value) };
  const lists = LISTS.filter((name) => Array.isArray((value as Record<string, unknown>)[name]));
  // A time in which nothing was used is a part of the period.
  if (lists.every((name) => (value as Record<string, unknown[]>)[name]!.length === 0)) yield own;
  for (const name of lists) yield* recordsIn((value as Record<string, unknown>)[name], own, depth + 1);
}

/** Lines of what a usage API answers: pages of times, each with the results of that time. None of a text that isn't JSON. */
export function exportRecords(text: string): ExportRecord[] {
  try {
    return [...recordsIn(JSON.parse(text), {}, 0)];
  } catch {
    return [];
  }
}
