import { type Piece, piecesOf } from './regex-pieces.js';

/** How many first and last characters of a class are tried. */
const SAMPLES = 4;
const MAX_ATTACKS = 120;
/** Endings that no expression matches: a search that fails there backtracks over everything it had matched. */
const FAILING = ['\u0000', '\n!'];

function few(samples: readonly string[]): string[] {
  const all = [...new Set(samples)];
  return all.length <= SAMPLES ? all : [...all.slice(0, SAMPLES - 2), ...all.slice(-2)];
}

/** A shortest text that the pieces match. */
function shortest(pieces: readonly Piece[]): string {
  return pieces.map(shortestOf).join('');
}

function shortestOf(piece: Piece): string {
  if (piece.kind === 'characters') return piece.samples[0] ?? '';
  if (piece.kind === 'group') return shortest(piece.branches[0] ?? []);
  return piece.kind === 'repeat' ? shortestOf(piece.piece).repeat(piece.least) : '';
}

/** Texts that a piece matches, one per alternative. */
function samplesOf(piece: Piece): string[] {
  if (piece.kind === 'characters') return few(piece.samples);
  if (piece.kind === 'group') {
    return piece.branches.flatMap((branch) => [
      shortest(branch),
      ...(branch.length === 1 ? samplesOf(branch[0]!) : []),
    ]);
  }
  return piece.kind === 'repeat' ? samplesOf(piece.piece) : [];
}

interface Pump {
  before: string;
  pumped: string;
}

/** A repeatable piece, and the pieces before it. */
function pumpsOf(pieces: readonly Piece[], lead: string): Pump[] {
  const pumps: Pump[] = [];
  let before = lead;
  for (const piece of pieces) {
    if (piece.kind === 'repeat' && piece.most > 1) {
      pumps.push(...samplesOf(piece.piece).map((pumped) => ({ before, pumped })));
    }
    const inner = piece.kind === 'repeat' ? piece.piece : piece;
    if (inner.kind === 'group') for (const branch of inner.branches) pumps.push(...pumpsOf(branch, before));
    before += shortestOf(piece);
  }
  pumps.push({ before: '', pumped: before });
  return pumps;
}

const filled = (unit: string, size: number): string =>
  unit.repeat(Math.max(0, Math.floor(size / unit.length)));

/**
 * Texts of about `size` characters that are slow for a search that backtracks or restarts too often: each repeated
 * piece pumped after the pieces before it, the same with those pieces repeated, too, and the expression's own texts.
 */
export function* attacksOn(source: string, size: number): Generator<string> {
  const pumps = piecesOf(source).flatMap((branch) => pumpsOf(branch, ''));
  const seen = new Set<string>();
  for (const { before, pumped } of pumps) {
    for (const [lead, unit] of [
      [before, pumped],
      ['', before + pumped],
      ['', pumped],
    ] as const) {
      const key = `${lead}\u0001${unit}`;
      if (unit === '' || seen.has(key) || seen.size >= MAX_ATTACKS) continue;
      seen.add(key);
      const text = lead + filled(unit, size - lead.length);
      for (const end of FAILING) yield text + end;
    }
  }
}
