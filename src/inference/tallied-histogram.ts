import type { Metric, Registry } from 'prom-client';

interface Options {
  name: string;
  help: string;
  /** Upper bounds in seconds, ascending. */
  buckets: readonly number[];
  /** At most one label, with all of its values. */
  label?: { name: string; values: readonly string[] };
}

/** Observations of one label value: how many fell into each bucket, their sum and count. */
class Tally {
  readonly counts: Float64Array;
  sum = 0;
  count = 0;

  constructor(private readonly buckets: readonly number[]) {
    this.counts = new Float64Array(buckets.length);
  }

  observe(value: number): void {
    let i = 0;
    while (i < this.buckets.length && value > this.buckets[i]!) i++;
    if (i < this.buckets.length) this.counts[i]!++;
    this.sum += value;
    this.count++;
  }
}

/**
 * A histogram that counts in plain numbers and builds its series when scraped. prom-client's own histogram looks up a bucket by the text
 * of its bound at every observation.
 * @returns Observers by label value (`''` without a label).
 */
export function talliedHistogram(
  { name, help, buckets, label }: Options,
  registry: Registry,
): Record<string, { observe(seconds: number): void }> {
  const tallies = new Map((label?.values ?? ['']).map((value) => [value, new Tally(buckets)]));
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...tallies].flatMap(([value, tally]) => {
      const labels = label ? { [label.name]: value } : {};
      let below = 0;
      const steps = buckets.map((le, i) => {
        below += tally.counts[i]!;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
      });
      return [
        ...steps,
        { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: tally.count },
        { metricName: `${name}_sum`, labels, value: tally.sum },
        { metricName: `${name}_count`, labels, value: tally.count },
      ];
    }),
  });
  // The registry only uses `name` and `get`; its type requires the library's own classes.
  registry.registerMetric({ name, help, get } as unknown as Metric);
  return Object.fromEntries(tallies);
}
