import { largest, percentile, type Result } from '../goal.js';
import type { Figure } from './messages.js';

/** A percentile of a figure, and its limit. */
interface Bound {
  figure: Figure;
  /** 1: the longest. */
  at: 0.5 | 0.95 | 1;
  /** The limit is three times the quiet figure, or at least this; with `only`, exactly this. */
  ms: number;
  only?: boolean;
}

const FACTOR = 3;
/**
 * A quiet figure of a few milliseconds needs idle processors. On two busy ones, a process waits for its turn behind
 * others, a hash of 25 ms among them, on each of the two or three processes that a request passes.
 */
const TURNS_MS = 50;
/** The promise to accounts that share the product with a large one. */
const STRANGER_P95_MS = 300;

const BOUNDS: readonly Bound[] = [
  { figure: '/v1 call', at: 0.5, ms: TURNS_MS },
  { figure: '/v1 call', at: 0.95, ms: STRANGER_P95_MS },
  { figure: 'GET /api/auth/me', at: 0.5, ms: TURNS_MS },
  { figure: 'GET /api/auth/me', at: 0.95, ms: STRANGER_P95_MS },
  { figure: 'GraphQL page of usage', at: 0.5, ms: TURNS_MS },
  { figure: 'GraphQL page of usage', at: 0.95, ms: STRANGER_P95_MS },
  { figure: 'page of the dashboard with its assets', at: 0.95, ms: STRANGER_P95_MS },
  // Its hash waits behind one of each flooding network.
  { figure: 'log-in', at: 0.95, ms: 500 },
  { figure: 'alert by webhook', at: 0.95, ms: 2_000 },
  { figure: 'alert by webhook', at: 1, ms: 5_000, only: true },
  { figure: 'alert by mail', at: 0.95, ms: 2_000 },
  { figure: 'alert by mail', at: 1, ms: 10_000, only: true },
  { figure: 'live event', at: 0.95, ms: 500 },
  // Two requests, one after the other.
  { figure: 'top-up to usable balance', at: 0.95, ms: 2 * STRANGER_P95_MS },
];

type Times = Record<Figure, readonly number[]>;

/** Each figure under attack beside its quiet one. */
export function judgeTimes(quiet: Times, attacked: Times): Result[] {
  return BOUNDS.map(({ figure, at, ms, only }) => {
    const of = (times: Times): number => (at === 1 ? largest(times[figure]) : percentile(times[figure], at));
    const [before, during] = [of(quiet), of(attacked)];
    const most = only ? ms : Math.max(FACTOR * before, ms);
    return {
      goal: `FAIRNESS ${figure}, ${at === 1 ? 'longest' : `p${100 * at}`}`,
      figure: only ? `≤ ${ms} ms` : `≤ ${FACTOR} × quiet, or ${ms} ms`,
      reached: `${shown(before)} → ${shown(during)} ms (${(during / before).toFixed(1)} ×; ${quiet[figure].length} and ${attacked[figure].length} times)`,
      ok: during <= most,
    };
  });
}

const shown = (ms: number): string => ms.toFixed(ms < 10 ? 1 : 0);
