import type { Metric, Registry } from 'prom-client';

interface Options {
  name: string;
  help: string;
  /** Upper bounds in seconds, ascending. */
  buckets: readonly number[];
  /** At most one label, with all of its values. */
  label?: { name: string; values: readonly string[] };
}

/** Observations of one label value: how many fell below each bound and none before it, their sum and count. */
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
 * A histogram that is counted in plain numbers and put together when it is scraped: prom-client's own finds its
 * bucket by the text of the bound, at every observation.
 * @returns by label value (`''` without a label) what takes an observation in seconds
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
  // The registry asks a metric for its name and `get` alone; its type names the library's own classes.
  registry.registerMetric({ name, help, get } as unknown as Metric);
  return Object.fromEntries(tallies);
}
