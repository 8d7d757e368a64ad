/** A line of an export: its cells by column name. */
export type ExportRecord = Record<string, string>;

/** Member names that providers use for lists of lines. */
const LISTS = ['data', 'results', 'items'];
const DEEPEST = 4;

const scalars = (value: object): ExportRecord =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (typeof one === 'string' || typeof one === 'number') return [[name, String(one)]];
      // Counts in a nested object, such as `cache_creation`.
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
  // A time without usage is part of the period.
  if (lists.every((name) => (value as Record<string, unknown[]>)[name]!.length === 0)) yield own;
  for (const name of lists) yield* recordsIn((value as Record<string, unknown>)[name], own, depth + 1);
}

/** Lines of a usage API's response: pages of periods, each with its results. Empty if the text isn't JSON. */
export function exportRecords(text: string): ExportRecord[] {
  try {
    return [...recordsIn(JSON.parse(text), {}, 0)];
  } catch {
    return [];
  }
}
