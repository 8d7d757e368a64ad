import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inPieces, type Piece } from './long/pieces.js';

const PIECES = 3;

describe('a goal in pieces', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pieces-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const shares: number[] = [];
  /** A piece that fails, or reaches this figure. */
  const attempt = (outcomes: (Partial<Piece> | Error)[], minutes = 60) =>
    inPieces({
      ...{ name: 'G0', pieces: PIECES, minutes, folder },
      run: (share) => {
        shares.push(share);
        const outcome = outcomes.shift() ?? new Error('asked for too many');
        if (outcome instanceof Error) return Promise.reject(outcome);
        return Promise.resolve({
          ...{ goal: 'a third', figure: '0 faults', reached: '', ok: true, sums: {}, most: {} },
          ...outcome,
        });
      },
    });

  test('resumes after the last recorded piece and reports the totals', async () => {
    await expect(attempt([], 0)).rejects.toThrow('raise --minutes');
    const first = { sums: { calls: 10 }, most: { 'slowest (ms)': 7 } };
    await expect(attempt([first, new Error('the machine was stopped')])).rejects.toThrow('was stopped');
    const soFar = await attempt([], 0);
    expect([soFar.ok, soFar.goal]).toEqual([false, 'G0, 1 of 3 pieces; the last one: a third']);
    const rest = await attempt([
      { sums: { calls: 5 }, most: { 'slowest (ms)': 3.25 } },
      { sums: { calls: 1 }, most: { 'slowest (ms)': 9.06 } },
    ]);
    expect(rest).toEqual({
      goal: 'G0, 3 of 3 pieces; the last one: a third',
      figure: '0 faults',
      reached: 'calls 16, slowest (ms) 9.1; pieces that missed it: 0',
      ok: true,
    });
    expect(shares).toEqual(Array.from({ length: PIECES + 1 }, () => 1 / PIECES));
  });

  test('is missed if one of them missed it', async () => {
    rmSync(join(folder, `G0-${PIECES}.jsonl`));
    const result = await attempt([{}, { ok: false }, {}]);
    expect([result.ok, result.reached]).toEqual([false, '; pieces that missed it: 1']);
  });
});
