import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './goal.js';

/** One piece of a long goal, with figures that can be combined across pieces. */
export interface Piece extends Result {
  /** Figures that are added up. */
  sums: Record<string, number>;
  /** Figures of which the largest counts. */
  most: Record<string, number>;
}

interface PiecesOptions {
  name: string;
  /** Runs the given share of the goal. */
  run: (scale: number) => Promise<Piece>;
  /** The number of pieces that make up the goal. */
  pieces: number;
  /** No piece starts after this time. */
  minutes: number;
  /** Folder of the files in which pieces are recorded. */
  folder: string;
}

type Recorded = Piece & { endedAt: string };

/**
 * Runs a goal in pieces and records each one, so that it can be interrupted and resumed. Pieces that a former run has recorded
 * aren't run again; an interrupted one is. Returns the sum of all pieces so far.
 */
export async function inPieces({ name, run, pieces, minutes, folder }: PiecesOptions): Promise<Result> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}-${pieces}.jsonl`);
  const recorded = read(file);
  const end = performance.now() + minutes * 60_000;
  while (recorded.length < pieces && performance.now() < end) {
    const piece: Recorded = { ...(await run(1 / pieces)), endedAt: new Date().toISOString() };
    appendFileSync(file, `${JSON.stringify(piece)}\n`);
    recorded.push(piece);
    const word = piece.ok ? 'reached' : 'MISSED';
    process.stderr.write(`${name}, piece ${recorded.length} of ${pieces}: ${piece.reached}: ${word}\n`);
  }
  const last = recorded.at(-1);
  if (!last) throw new Error(`no time for a piece of ${name}: raise --minutes`);
  const missed = recorded.filter(({ ok }) => !ok).length;
  return {
    goal: `${name}, ${recorded.length} of ${pieces} pieces; the last one: ${last.goal}`,
    figure: last.figure,
    reached: `${listed(combined(recorded))}; pieces that missed it: ${missed}`,
    ok: missed === 0 && recorded.length === pieces,
  };
}

/** The last line may be incomplete; that piece is run again. */
function read(file: string): Recorded[] {
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, 'utf8').replace(/[^\n]*$/, '');
  writeFileSync(file, whole);
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
}

function combined(pieces: readonly Piece[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const { sums, most } of pieces) {
    for (const [name, value] of Object.entries(sums)) all[name] = (all[name] ?? 0) + value;
    for (const [name, value] of Object.entries(most)) all[name] = Math.max(all[name] ?? value, value);
  }
  return all;
}

const listed = (figures: Record<string, number>): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${Number(value.toFixed(1))}`)
    .join(', ');
