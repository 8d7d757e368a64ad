import { type BucketCount, countOf, latencyQuantile, valueAtRank } from '../../lib/latency-sketch.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import type { BandPoint, OwnBand } from './band-hours.store.js';
import { bandRange } from './bands.rules.js';
import type { RankedModel } from './entries.rules.js';
import type { Interval } from './intervals.rules.js';
import type { LeaderboardMixOutput, MixEntryOutput } from './mix.outputs.js';
import type { Contender, Standing } from './ranking.rules.js';

/** Latencies by band. */
export type BandSketches = ReadonlyMap<number, readonly BucketCount[]>;

/** Latencies by model and band. */
export function byModel(points: readonly BandPoint[]): Map<string, Map<number, BucketCount[]>> {
  return new Map(
    [...Map.groupBy(points, ({ model }) => model)].map(([model, own]) => [
      model,
      Map.groupBy(own, ({ band }) => band),
    ]),
  );
}

/** A percentile over several answer lengths, its 95 % interval, and the share of the weights with data. */
export interface Mixture {
  value: number;
  interval: Interval;
  coverage: number;
}

const Q = 0.95;
const Z = 1.959963984540054;

/**
 * The 95th percentile of latencies for answers distributed like `weights`: each band counts by its weight, not by its
 * calls. The interval assumes the number of calls that would be as informative in a plain sample. Undefined if no
 * band has data.
 */
export function mixtureP95(
  sketches: BandSketches,
  weights: ReadonlyMap<number, number>,
): Mixture | undefined {
  const bands = [...weights].flatMap(([band, weight]) => {
    const sketch = sketches.get(band) ?? [];
    const calls = countOf(sketch);
    return weight > 0 && calls > 0 ? [{ weight, sketch, calls }] : [];
  });
  const covered = bands.reduce((sum, { weight }) => sum + weight, 0);
  if (covered === 0) return undefined;
  const merged = bands.flatMap(({ weight, sketch, calls }) =>
    sketch.map(({ bucket, count }) => ({ bucket, count: (weight / covered) * (count / calls) })),
  );
  const spread = bands.reduce((sum, { weight, calls }) => sum + (weight / covered) ** 2 / calls, 0);
  const half = Z * Math.sqrt(Q * (1 - Q) * spread);
  // Shares may sum to slightly less than 1.
  const at = (q: number): number => valueAtRank(merged, Math.min(q, 1) - 1e-9);
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return { value: at(Q), interval: { low: at(Q - half), high: at(Q + half) }, coverage: covered / all };
}

/** Calls by band. */
export const weightsOf = (own: readonly OwnBand[]): Map<number, number> =>
  new Map(
    [...Map.groupBy(own, ({ band }) => band)].map(([band, rows]) => [
      band,
      rows.reduce((sum, { successes }) => sum + successes, 0),
    ]),
  );

const total = (own: readonly OwnBand[], name: 'successes' | 'input_tokens' | 'output_tokens'): number =>
  own.reduce((sum, row) => sum + row[name], 0);

/** The viewer's mix of chat calls. */
export function mixOf(own: readonly OwnBand[]): LeaderboardMixOutput['mix'] {
  const requests = total(own, 'successes');
  return {
    requests,
    input_tokens: total(own, 'input_tokens'),
    output_tokens: total(own, 'output_tokens'),
    bands: [...weightsOf(own)]
      .toSorted(([a], [b]) => a - b)
      .map(([band, calls]) => ({ ...bandFields(band), share: calls / requests })),
  };
}

const bandFields = (band: number) => {
  const { from, to } = bandRange(band);
  return { from_output_tokens: from, to_output_tokens: to };
};

/** Price of a million tokens in the viewer's proportion of input and output. */
export function blendedPrice(
  { inputPricePerMillionUsd, outputPricePerMillionUsd }: RankedModel,
  { input_tokens, output_tokens }: LeaderboardMixOutput['mix'],
): string | null {
  const [input, output] = [BigInt(input_tokens), BigInt(output_tokens)];
  if (input + output === 0n) return null;
  const cost = input * parseMoney(inputPricePerMillionUsd) + output * parseMoney(outputPricePerMillionUsd);
  return formatMoney(cost / (input + output));
}

/** The inputs of the ranking for the viewer's mix; undefined without data of such lengths. */
export function mixContender(
  plain: Contender,
  { mixture, price }: { mixture: Mixture | undefined; price: string | null },
): Contender | undefined {
  if (!mixture || price === null) return undefined;
  return { ...plain, p95Ms: mixture.value, p95: mixture.interval, outputPrice: Number(price) };
}

/** Latencies of the viewer and of all accounts, over the bands that the viewer has. */
export interface Sketches {
  own: BandSketches;
  everyone: BandSketches;
}

/** A model's entry: the viewer's 95th percentile next to everyone's, and its rank for the viewer's mix. */
export function mixEntry(
  model: RankedModel,
  own: readonly OwnBand[],
  { own: mine, everyone }: Sketches,
  ranked: { mixture: Mixture | undefined; price: string | null; standing: Standing | undefined },
): MixEntryOutput {
  const p95 = (sketch: readonly BucketCount[] | undefined): number | null =>
    sketch === undefined || sketch.length === 0 ? null : latencyQuantile(sketch, Q);
  const beside = mixtureP95(everyone, weightsOf(own));
  return {
    model_public_name: model.publicName,
    requests: total(own, 'successes'),
    p95_latency_ms: p95([...mine.values()].flat()),
    everyone_p95_latency_ms: beside?.value ?? null,
    bands: own
      .toSorted((a, b) => a.band - b.band)
      .map(({ band, successes }) => ({
        ...bandFields(band),
        requests: successes,
        p95_latency_ms: p95(mine.get(band)),
        everyone_p95_latency_ms: p95(everyone.get(band)),
      })),
    mix_price_per_million_usd: ranked.price,
    mix_p95_latency_ms: ranked.mixture?.value ?? null,
    mix_coverage: ranked.mixture?.coverage ?? 0,
    ranking_score: ranked.standing?.score ?? null,
    rank: ranked.standing?.rank ?? null,
    rank_tied: ranked.standing?.tied ?? false,
  };
}
