import type { AnalyticsTimes } from './analytics.js';
import { type Measured, median, quantile } from './measure.js';
import type { Pair } from './pair.js';
import type { Runtime } from './peers.js';
import { spreadOf } from './spread.js';
import type { Visibility } from './visible.js';

/** CPU time of one event. */
export interface EventCpu {
  edgeMicros: number;
  postgresMicros: number;
}

/** The usage that a target recorded for its responses. */
interface Book {
  name: string;
  rows: number;
  /** Responses with status 200, complete or not. */
  answers: number;
  /** Ids of responses without a row. */
  lost: string[];
  /** Rows of calls that nobody made. */
  invented: number;
  /** Rows of complete responses without the upstream's counts, or of incomplete ones with them. */
  inexact: number;
  violations: string[];
}

export interface Findings {
  targets: Map<string, Measured>;
  usageWrite: { batches: EventCpu; whole: EventCpu } | undefined;
  visibility: Visibility | undefined;
  analytics: AnalyticsTimes | undefined;
  /** Lines about usage rows and money, one per ledger. */
  books: Book[];
  pair: Pair;
  /** The older Node of the peers' twins; or why there are no twins. */
  node20: Runtime | string;
}

/** One line of the table. `goal` and `mark` are empty for figures that are only shown. */
type Line = string[];

const COLUMNS = [
  'edge',
  'bare',
  'bare, Node 20',
  'nginx',
  'Portkey',
  'Portkey, Node 20',
  'edge + router',
  'edge + router before',
  'two edges',
  'two edges before',
  'before',
] as const;

/** The path of a user's call. */
const WHOLE_PATH = 'edge + router';

const shown = (value: number, digits: number): string =>
  Number.isFinite(value) ? value.toFixed(digits) : '-';

interface Goal {
  floor: number;
  stretch: number;
  /** Whether more is better. */
  atLeast?: boolean;
}

function mark(value: number, { floor, stretch, atLeast = false }: Goal): string {
  if (!Number.isFinite(value)) return 'not measured';
  const reaches = (limit: number): boolean => (atLeast ? value >= limit : value <= limit);
  if (reaches(stretch)) return '✓ stretch';
  return reaches(floor) ? '✓ floor' : '✗ below';
}

const limits = ({ floor, stretch, atLeast = false }: Goal, unit: string): string => {
  const sign = atLeast ? '≥' : '≤';
  return floor === stretch
    ? `${sign} ${floor}${unit}`
    : `${sign} ${floor}${unit} / ${sign} ${stretch}${unit}`;
};

/** How far apart a ratio's rounds may be, as a share of its median, before it counts as noisy. */
const NOISY = 0.25;

class Table {
  readonly lines: Line[] = [];
  /** Ratios whose rounds are far apart. */
  readonly noisy: string[] = [];

  constructor(private readonly findings: Findings) {}

  value(target: string, figure: string): number {
    const measured = this.findings.targets.get(target);
    return measured ? median(measured.figures.get(figure)) : Number.NaN;
  }

  /** A figure of every target, minus that of "direct" if `added`. */
  figures(label: string, figure: string, digits: number, added = false): void {
    const base = added ? this.value('direct', figure) : 0;
    const cells = COLUMNS.map((name) => shown(this.value(name, figure) - base, digits));
    this.lines.push([label, ...cells, '', '']);
  }

  /** The same goal against a peer on the edge's own Node, and against its twin on Node 20, if any. */
  ratios(label: string, peer: string, figure: string, goal: Goal, added = false): void {
    this.ratio(label, peer, figure, goal, added);
    const twin = `${peer}, Node 20`;
    if (this.findings.targets.has(twin)) this.ratio(`${label} on Node 20`, twin, figure, goal, added);
  }

  /** A figure of each round, minus that of "direct" if `added`. */
  #rounds(target: string, figure: string, added: boolean): number[] {
    const of = (name: string): readonly number[] =>
      this.findings.targets.get(name)?.figures.get(figure) ?? [];
    const direct = added ? of('direct') : [];
    return of(target).map((value, round) => value - (direct[round] ?? 0));
  }

  /**
   * A ratio of the edge to another target against its goal: the median of its rounds, with the least and the most. In a
   * round all targets are measured one right after the other, so what slows the machine down for longer cancels out.
   */
  ratio(label: string, other: string, figure: string, goal: Goal, added = false, subject = 'edge'): void {
    const peers = this.#rounds(other, figure, added);
    const ratios = this.#rounds(subject, figure, added)
      .slice(0, peers.length)
      .map((own, round) => (goal.atLeast ? peers[round]! / own : own / peers[round]!));
    const { least, median: ratio, most } = spreadOf(ratios);
    this.goal(label, ratio, goal, '×', 2);
    if (ratios.length < 2) return;
    this.lines.at(-1)![1] += ` (${shown(least, 2)} to ${shown(most, 2)})`;
    if (most - least > NOISY * ratio) this.noisy.push(label);
  }

  /** A figure of the edge against its goal. */
  goal(label: string, value: number, goal: Goal, unit: string, digits: number): void {
    const cell = Number.isFinite(value) ? `${value.toFixed(digits)}${unit}` : '-';
    const rest = COLUMNS.slice(1).map(() => '');
    this.lines.push([label, cell, ...rest, limits(goal, unit), mark(value, goal)]);
  }

  /** A figure of the edge without a goal. */
  shown(label: string, value: number, digits: number): void {
    this.lines.push([label, shown(value, digits), ...COLUMNS.slice(1).map(() => ''), '', '']);
  }
}

function fillTable(table: Table, findings: Findings): void {
  table.figures('CPU µs per request', 'cpuPerRequest', 1);
  table.figures('requests/s on its core', 'cpuPerRequestRps', 0);
  table.ratios('capacity vs bare node:http', 'bare', 'cpuPerRequest', {
    floor: 0.9,
    stretch: 1.15,
    atLeast: true,
  });
  table.ratio('capacity vs nginx', 'nginx', 'cpuPerRequest', { floor: 0.25, stretch: 0.35, atLeast: true });
  table.ratios('capacity vs Portkey', 'Portkey', 'cpuPerRequest', { floor: 12, stretch: 18, atLeast: true });
  const ofCall = { floor: 1.75, stretch: 1.6 };
  table.ratio('whole path of a call vs bare', 'bare', 'cpuPerRequest', ofCall, false, WHOLE_PATH);
  const ofTwo = { floor: 0.9, stretch: 1, atLeast: true };
  table.ratio('capacity of each of two edges vs one', 'edge', 'cpuPerRequest', ofTwo, false, 'two edges');
  table.figures('added p50 ms @ 200/s', 'p50', 2, true);
  table.ratios('added p50 vs bare', 'bare', 'p50', { floor: 1.2, stretch: 1.05 }, true);
  table.ratio('added p50 vs nginx', 'nginx', 'p50', { floor: 2.3, stretch: 2.3 }, true);
  table.ratios('added p50 vs Portkey', 'Portkey', 'p50', { floor: 0.35, stretch: 0.35 }, true);
  table.figures('added p99 ms @ 200/s', 'p99', 2, true);
  table.ratios('added p99 vs bare', 'bare', 'p99', { floor: 1.5, stretch: 1.2 }, true);
  table.figures('added first byte p50 ms @ 50 streams/s', 'ttfb', 2, true);
  table.ratios('added first byte vs bare', 'bare', 'ttfb', { floor: 1.2, stretch: 1 }, true);
  const ofFirstByte = { floor: 1.3, stretch: 1.3 };
  table.ratio('added first byte of the whole path vs bare', 'bare', 'ttfb', ofFirstByte, true, WHOLE_PATH);
  table.ratios('added first byte vs Portkey', 'Portkey', 'ttfb', { floor: 0.05, stretch: 0.05 }, true);
  table.figures('CPU µs per SSE chunk', 'cpuPerChunk', 1);
  table.ratios('SSE CPU vs bare', 'bare', 'cpuPerChunk', { floor: 1.15, stretch: 0.9 });
  table.ratio('SSE CPU vs nginx', 'nginx', 'cpuPerChunk', { floor: 2.2, stretch: 2.2 });
  table.ratios('SSE CPU vs Portkey', 'Portkey', 'cpuPerChunk', { floor: 0.3, stretch: 0.3 });
  const ofChunk = { floor: 1.15, stretch: 1.15 };
  table.ratio('whole path of a chunk vs bare', 'bare', 'cpuPerChunk', ofChunk, false, WHOLE_PATH);
  table.figures('kB per open stream', 'kbPerStream', 1);
  table.goal(
    'memory per open stream',
    table.value('edge', 'kbPerStream'),
    { floor: 40, stretch: 32 },
    ' kB',
    1,
  );
  table.ratio('memory vs nginx', 'nginx', 'kbPerStream', { floor: 2.3, stretch: 2.3 });
  table.ratios('memory vs Portkey', 'Portkey', 'kbPerStream', { floor: 0.5, stretch: 0.5 });
  table.figures('CPU µs per request beside open streams', 'cpuBesideIdle', 1);
  const { usageWrite, visibility } = findings;
  const none = Number.NaN;
  table.goal(
    'usage write in batches of 100, edge CPU µs/event',
    usageWrite?.batches.edgeMicros ?? none,
    { floor: 10, stretch: 4 },
    ' µs',
    1,
  );
  table.goal(
    'the same, PostgreSQL CPU µs/event (a ledger entry each)',
    usageWrite?.batches.postgresMicros ?? none,
    { floor: 60, stretch: 25 },
    ' µs',
    1,
  );
  const { whole } = usageWrite ?? {};
  table.shown('with the spool at 2,000/s, edge CPU µs/event', whole?.edgeMicros ?? none, 1);
  table.shown('with the spool at 2,000/s, PostgreSQL CPU µs/event', whole?.postgresMicros ?? none, 1);
  table.goal(
    'event to visible balance p50 @ 500/s',
    visibility?.p50 ?? none,
    { floor: 100, stretch: 100 },
    ' ms',
    0,
  );
  table.goal(
    'event to visible balance p99 @ 500/s',
    visibility?.p99 ?? none,
    { floor: 500, stretch: 500 },
    ' ms',
    0,
  );
  const { analytics } = findings;
  const answered = { floor: 200, stretch: 200 };
  table.goal(
    'analytics of 90 days, 10 million calls of a key, p50',
    analytics?.p50 ?? none,
    answered,
    ' ms',
    0,
  );
  table.goal('the same, p99', analytics?.p99 ?? none, answered, ' ms', 0);
  const version = analytics?.version;
  table.goal('statistics of a prompt version with as many, p50', version?.p50 ?? none, answered, ' ms', 0);
  table.goal('the same, p99', version?.p99 ?? none, answered, ' ms', 0);
  const bad = [...findings.targets.values()].reduce(
    (sum, { running, sent }) => sum + (running.ledger ? sent.bad : 0),
    0,
  );
  table.goal(
    'answers lost or wrong (each stream checked chunk by chunk)',
    bad,
    { floor: 0, stretch: 0 },
    '',
    0,
  );
  for (const book of findings.books) {
    const off = book.lost.length + book.invented + book.inexact;
    const label = `${book.name}: usage rows ${book.rows}, answers ${book.answers}; difference`;
    table.goal(label, off, { floor: 0, stretch: 0 }, '', 0);
    table.goal(
      `${book.name}: violated invariants of the money`,
      book.violations.length,
      { floor: 0, stretch: 0 },
      '',
      0,
    );
  }
}

/** The table as Markdown, its columns padded so that it reads in a terminal too, and the ratios that are noisy. */
export function renderTable(findings: Findings): { table: string; noisy: readonly string[] } {
  const table = new Table(findings);
  fillTable(table, findings);
  const heads = ['figure (median)', ...COLUMNS, 'goal: floor / stretch', 'reached'];
  const used = heads.map(
    (_, i) => i === 0 || i >= heads.length - 2 || table.lines.some((line) => !['', '-'].includes(line[i]!)),
  );
  const rows = [heads, ...table.lines].map((row) => row.filter((_, i) => used[i]));
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const text = (row: string[]): string => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return { table: [text(rows[0]!), rule, ...rows.slice(1).map(text)].join('\n'), noisy: table.noisy };
}

/** How many faults are listed by name. */
const SOME = 5;

/** Notes below the table. */
export function renderNotes(findings: Findings, noisy: readonly string[]): string[] {
  const { targets, pair, visibility, analytics, books, node20 } = findings;
  const notes = books
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => `${name}: ${violations.join('; ')}`);
  for (const { name, lost, invented, inexact } of books) {
    if (lost.length + invented + inexact === 0) continue;
    const some = lost.length > 0 ? ` (${lost.slice(0, SOME).join(', ')})` : '';
    notes.push(
      `${name}: ${lost.length} answers without a row${some}, ${invented} rows without a call, ${inexact} inexact.`,
    );
  }
  for (const { running, sent } of targets.values()) {
    if (sent.bad === 0) continue;
    if (running.ledger) {
      notes.push(
        `${running.name}: ${sent.bad} of ${sent.answers} answers failed: ${sent.failures.slice(0, SOME).join('; ')}`,
      );
      continue;
    }
    notes.push(`${running.name}: ${sent.bad} of ${sent.answers} answers were wrong; its figures say little.`);
  }
  if (noisy.length > 0) {
    notes.push(
      `Noisy: the rounds differ by more than ${NOISY * 100} % of the median in ${noisy.join(', ')}.`,
    );
  }
  notes.push(...besideBefore(targets));
  if (visibility) notes.push(`The visible balance was seen by ${visibility.samples} probes.`);
  if (analytics) notes.push(`Analytics were asked of ${analytics.events} calls.`);
  notes.push(`Peers on Node 20: ${typeof node20 === 'string' ? node20 : node20.versions}.`);
  notes.push(
    typeof pair === 'string'
      ? `Two edges: ${pair}.`
      : `Two edges sharing Redis, each with a core (which they share with the generator): ${pair.cpuPerRequest.toFixed(1)} CPU µs per request, ${pair.rps.toFixed(0)} requests/s together.`,
  );
  return notes;
}

/**
 * Compares two builds round by round, since whatever slows the machine down slows both. Other work on the machine only adds to a
 * figure, so with many short rounds the lower fifths say more than the median.
 */
function besideBefore(targets: Findings['targets']): string[] {
  const pairs = [
    ['edge', 'before'],
    [WHOLE_PATH, `${WHOLE_PATH} before`],
  ] as const;
  return pairs.flatMap(([name, former]) =>
    ['cpuPerRequest', 'cpuPerChunk'].flatMap((figure) => {
      const values = targets.get(name)?.figures.get(figure) ?? [];
      const others = targets.get(former)?.figures.get(figure) ?? [];
      if (values.length === 0 || others.length !== values.length) return [];
      const { least, median: middle, most } = spreadOf(values.map((value, round) => value / others[round]!));
      const [own, other] = [quantile(values, 0.2), quantile(others, 0.2)];
      const fifths = `lower fifths ${own.toFixed(1)} and ${other.toFixed(1)} µs: ${(own / other).toFixed(3)}`;
      return `${figure}, ${name} / ${former}, median of ${values.length} rounds: ${middle.toFixed(3)} (${least.toFixed(2)} to ${most.toFixed(2)}); ${fifths}`;
    }),
  );
}
