import type { Interval } from './intervals.rules.js';

/** What a model is ranked by. */
export interface Contender {
  model: string;
  successRate: number;
  success: Interval;
  /** Null where no call succeeded. */
  p95Ms: number | null;
  p95: Interval;
  /** Dollars per million output tokens. */
  outputPrice: number;
}

/** Where a model stands. */
export interface Standing {
  score: number;
  /** From 1; those who share a place have the same. */
  rank: number;
  /** Whether the figures can't tell it apart from another of the same rank. */
  tied: boolean;
}

const WEIGHTS = { success: 0.4, latency: 0.3, cost: 0.3 };
/** Decimals of a score that are kept: beyond them is arithmetic's noise. */
const SCALE = 1e6;
const rounded = (score: number): number => Math.round(score * SCALE) / SCALE;

/** Maps the cohort's values to 0 to 1. Where all are equal, each is the best. */
function normaliser(values: readonly number[], best: 0 | 1): (value: number) => number {
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  return (value) => (span === 0 ? best : Math.min(1, Math.max(0, (value - low) / span)));
}

/**
 * Ranks models by 0.40 × success rate + 0.30 × (1 − p95 latency) + 0.30 × (1 − output price), each normalised
 * over the cohort. Models whose 95 % intervals reach that of the first of a rank share it: measured from the first, so that
 * a chain of overlaps doesn't make all of them one. A model without a successful call has no latency: it counts as the slowest.
 */
export function rank(cohort: readonly Contender[]): Map<string, Standing> {
  const success = normaliser(
    cohort.map(({ successRate }) => successRate),
    1,
  );
  const latency = normaliser(
    cohort.flatMap(({ p95Ms }) => p95Ms ?? []),
    0,
  );
  const price = normaliser(
    cohort.map(({ outputPrice }) => outputPrice),
    0,
  );
  const scored = cohort.map((one) => {
    const score = (successRate: number, p95Ms: number): number =>
      rounded(
        WEIGHTS.success * success(successRate) +
          WEIGHTS.latency * (one.p95Ms === null ? 0 : 1 - latency(p95Ms)) +
          WEIGHTS.cost * (1 - price(one.outputPrice)),
      );
    return {
      model: one.model,
      score: score(one.successRate, one.p95Ms ?? 0),
      low: score(one.success.low, one.p95.high),
      high: score(one.success.high, one.p95.low),
    };
  });
  scored.sort((a, b) => b.score - a.score || (a.model < b.model ? -1 : 1));
  const classes: (typeof scored)[] = [];
  for (const one of scored) {
    const last = classes.at(-1);
    if (last && one.high >= last[0]!.low) last.push(one);
    else classes.push([one]);
  }
  const standings = new Map<string, Standing>();
  for (const members of classes) {
    const place = standings.size + 1;
    for (const { model, score } of members)
      standings.set(model, { score, rank: place, tied: members.length > 1 });
  }
  return standings;
}
