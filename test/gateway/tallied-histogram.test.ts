import { Histogram, Registry } from 'prom-client';
import { talliedHistogram } from '../../src/inference/tallied-histogram.js';
import fc from '../support/fast-check.js';

const buckets = [0.005, 0.01, 0.25, 1, 60];
const seconds = fc.oneof(
  fc.constantFrom(...buckets, 0, 61),
  fc.integer({ min: 0, max: 100_000 }).map((ms) => ms / 1000),
);

describe('a histogram counted in plain numbers', () => {
  test("is scraped like prom-client's own histogram for any observations", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('chat', 'embeddings'), seconds)), async (seen) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const options = { name: 'call_seconds', help: 'How long', buckets };
        const label = { name: 'endpoint', values: ['chat', 'embeddings'] };
        const tallied = talliedHistogram({ ...options, label }, ours);
        const plain = talliedHistogram({ ...options, name: 'all_seconds' }, ours);
        const own = new Histogram({ ...options, labelNames: ['endpoint'], registers: [theirs] });
        for (const endpoint of label.values) own.zero({ endpoint });
        const ownPlain = new Histogram({ ...options, name: 'all_seconds', registers: [theirs] });
        for (const [endpoint, value] of seen) {
          tallied[endpoint]!.observe(value);
          own.observe({ endpoint }, value);
          plain['']!.observe(value);
          ownPlain.observe(value);
        }
        expect(await ours.metrics()).toBe(await theirs.metrics());
        expect((await ours.getMetricsAsJSON()).map(({ name }) => name)).toEqual([
          'call_seconds',
          'all_seconds',
        ]);
      }),
    );
  });
});
