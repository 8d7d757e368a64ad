import { z } from 'zod';
import { count, decimal, timestamp, uuid } from '../../lib/output-fields.js';

const p95 = (of: string) =>
  z
    .number()
    .nullable()
    .describe(`95th percentile of latency in milliseconds, ${of}. Null for fewer than 20 calls.`);

export const usageAtConcurrencyOutput = z
  .object({
    concurrency_from: z.int().describe('Lowest number of concurrent calls of the band.'),
    concurrency_to: z.int().describe('Highest number of concurrent calls of the band.'),
    requests: count('Successful calls that began at that concurrency.'),
    p95_latency_ms: p95('of these calls'),
  })
  .meta({
    id: 'UsageAtConcurrency',
    description: 'Usage of a model on a node at about the concurrency of its benchmark.',
  });

export const benchmarkedOutput = z
  .object({
    id: uuid('Benchmark ID.'),
    concurrency: z.int().describe('Parallel requests of the benchmark.'),
    p95_latency_ms: z
      .number()
      .describe('95th percentile of latency in milliseconds, as the benchmark measured it.'),
    created_at: timestamp('Time the result was submitted.'),
    usage: usageAtConcurrencyOutput.describe('Usage at that concurrency.'),
  })
  .meta({
    id: 'BenchmarkBesideUsage',
    description: 'The latest benchmark of a model on a node, beside its usage.',
  });

export const servedModelOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    deployments: z
      .array(z.string())
      .describe('IDs of the deployments that served it, as in the routing file.'),
    requests: count('Calls.'),
    errors: count('Failed calls.'),
    uncounted: count('Answers for which the node reported zero tokens. They are free.'),
    revenue_usd: decimal('What the calls were charged, in US dollars.'),
    p95_latency_ms: p95('of all successful calls'),
    benchmark: benchmarkedOutput.nullable().describe('The latest benchmark. Null without one.'),
  })
  .meta({ id: 'ServedModel', description: 'Usage of one model on a node.' });

export const nodeEconomicsOutput = z
  .object({
    node_id: uuid('Node ID.'),
    name: z.string().describe('Name of the node.'),
    since: timestamp('Start of the window, or the registration of the node if that is later.'),
    hours: z.number().describe('Hours since then.'),
    requests: count('Calls that the node served.'),
    errors: count('Failed calls.'),
    hourly_cost_usd: decimal('Current cost of one hour in US dollars.'),
    revenue_usd: decimal('What the calls were charged, in US dollars.'),
    cost_usd: decimal('Cost of these hours in US dollars, at the current cost of one hour.'),
    margin_usd: decimal('Revenue minus cost, in US dollars.'),
    revenue_per_hour_usd: decimal('Revenue of one hour, in US dollars.'),
    margin_per_hour_usd: decimal('Margin of one hour, in US dollars.'),
    average_concurrency: z.number().describe('Average number of concurrent calls.'),
    break_even_concurrency: z
      .number()
      .nullable()
      .describe(
        'Average number of concurrent calls at which revenue covers cost, at the prices and latencies of the window. Null without revenue.',
      ),
    models: z.array(servedModelOutput).describe('Usage by model, highest revenue first.'),
  })
  .meta({ id: 'NodeEconomics', description: 'Revenue and cost of a node in a window.' });
export type NodeEconomicsOutput = z.infer<typeof nodeEconomicsOutput>;
export const nodesEconomicsOutput = z
  .array(nodeEconomicsOutput)
  .describe('Nodes, highest margin per hour first.');
