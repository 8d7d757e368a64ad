/** A run of text in both texts or in one of them. Joined without `added`, the parts are the old text; without `removed`, the new. */
export interface DiffPart {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Most edits to search for, which bounds time and memory. Texts with more differences count as replaced. */
const MAX_EDITS = 1_500;

/** Words, runs of white space and single other characters. Joined, they are the text. */
const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

interface Run {
  kind: DiffPart['kind'];
  tokens: readonly string[];
}

/**
 * What changed from one text to another, word by word. Compares lines first, and words only within changed lines, so that a moved
 * paragraph doesn't dissolve into single words.
 */
export function wordDiff(before: string, after: string): DiffPart[] {
  const runs = changesOf(tokenDiff(lines(before), lines(after))).flatMap(({ same, removed, added }) => [
    { kind: 'same' as const, tokens: same },
    ...tokenDiff(words(removed.join('')), words(added.join(''))),
  ]);
  return changesOf(runs)
    .flatMap(({ same, removed, added }): DiffPart[] => [
      { kind: 'same', text: same.join('') },
      { kind: 'removed', text: removed.join('') },
      { kind: 'added', text: added.join('') },
    ])
    .filter(({ text }) => text !== '');
}

/** Groups runs into changes: unchanged text, followed by the removed and added text up to the next unchanged text. */
function changesOf(runs: readonly Run[]): Record<DiffPart['kind'], string[]>[] {
  let last = { same: [] as string[], removed: [] as string[], added: [] as string[] };
  const changes = [last];
  for (const { kind, tokens } of runs) {
    if (tokens.length === 0) continue;
    if (kind === 'same' && last.removed.length + last.added.length > 0) {
      last = { same: [], removed: [], added: [] };
      changes.push(last);
    }
    for (const token of tokens) last[kind].push(token);
  }
  return changes;
}

/** The shortest edit of one list of tokens into another (Myers), as runs in order. */
function tokenDiff(before: readonly string[], after: readonly string[]): Run[] {
  let head = 0;
  const most = Math.min(before.length, after.length);
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  return [
    { kind: 'same', tokens: before.slice(0, head) },
    ...shortestEdit(a, b),
    { kind: 'same', tokens: before.slice(before.length - tail) },
  ];
}

function shortestEdit(a: readonly string[], b: readonly string[]): Run[] {
  const replaced: Run[] = [
    { kind: 'removed', tokens: a },
    { kind: 'added', tokens: b },
  ];
  if (a.length === 0 || b.length === 0) return replaced;
  const trace = furthestReaches(a, b);
  return trace ? editOf(a, b, trace) : replaced;
}

/** How far each diagonal reaches, by number of edits; undefined if it takes too many. */
function furthestReaches(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  const most = Math.min(a.length + b.length, MAX_EDITS);
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let edits = 0; edits <= most; edits++) {
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && reach[middle + k - 1]! < reach[middle + k + 1]!);
      let x = down ? reach[middle + k + 1]! : reach[middle + k - 1]! + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      reach[middle + k] = x;
      if (x >= a.length && y >= b.length) {
        trace.push(reach.slice(middle - edits, middle + edits + 1));
        return trace;
      }
    }
    trace.push(reach.slice(middle - edits, middle + edits + 1));
  }
  return undefined;
}

/** Traces the edits back from the end. */
function editOf(a: readonly string[], b: readonly string[], trace: readonly Int32Array[]): Run[] {
  const runs: Run[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const before = trace[edits - 1]!;
    const k = x - y;
    const at = (diagonal: number): number => before[diagonal + edits - 1] ?? -1;
    const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const fromX = down ? at(k + 1) : at(k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    const startX = down ? fromX : fromX + 1;
    runs.push({ kind: 'same', tokens: a.slice(startX, x) });
    runs.push(
      down
        ? { kind: 'added', tokens: b.slice(fromY, fromY + 1) }
        : { kind: 'removed', tokens: a.slice(fromX, fromX + 1) },
    );
    x = fromX;
    y = fromY;
  }
  runs.push({ kind: 'same', tokens: a.slice(0, x) });
  return runs.reverse();
}
