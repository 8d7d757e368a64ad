import type { Interval } from './intervals.rules.js';

/** The figures by which a model is ranked. */
export interface Contender {
  model: string;
  successRate: number;
  success: Interval;
  /** Null if no call succeeded. */
  p95Ms: number | null;
  p95: Interval;
  /** Dollars per million output tokens. */
  outputPrice: number;
}

/** A model's place in the ranking. */
export interface Standing {
  score: number;
  /** From 1. Tied models have the same rank. */
  rank: number;
  /** Whether the figures don't distinguish it from another model of the same rank. */
  tied: boolean;
}

const WEIGHTS = { success: 0.4, latency: 0.3, cost: 0.3 };
/** Precision of a score; further decimals are rounding noise. */
const SCALE = 1e6;
const rounded = (score: number): number => Math.round(score * SCALE) / SCALE;

/** Normalises values of the cohort to 0 to 1. If all are equal, each counts as the best. */
function normaliser(values: readonly number[], best: 0 | 1): (value: number) => number {
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  return (value) => (span === 0 ? best : Math.min(1, Math.max(0, (value - low) / span)));
}

/**
 * Ranks models: 0.40 × success rate + 0.30 × (1 − p95 latency) + 0.30 × (1 − output price), each normalised over the
 * cohort. Models whose 95 % intervals overlap that of the first model of a rank share its rank. Measured from the
 * first, so that a chain of overlaps doesn't put all models on one rank. A model without a successful call has no
 * latency and counts as the slowest.
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
