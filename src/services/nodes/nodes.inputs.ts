import { z } from 'zod';
import { changesSomething, label, NOTHING_TO_CHANGE, TRIMMED } from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';
import { pageInput } from '../../lib/page-input.js';

const MAX_ADDRESS = 2_048;
/** The format of times in responses. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** The fault in a node's address; undefined if it is valid. */
function addressFault(address: string): string | undefined {
  if (!address.isWellFormed() || /\p{Cc}/u.test(address)) return 'must not contain control characters';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL';
  return url.username || url.password ? 'must not contain a user name or password' : undefined;
}

const endpointUrl = z
  .string()
  .max(MAX_ADDRESS)
  .superRefine((address, context) => {
    const fault = addressFault(address);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .describe(
    'Address of the node, such as `http://10.0.0.5:8000`. Deployments whose `api_base` has the same host and port run on it.',
  );

const fields = {
  name: label(100).describe(`Name of the node, 1 to 100 characters. ${TRIMMED}`),
  provider: label(100).describe(`Provider of the hardware, 1 to 100 characters. ${TRIMMED}`),
  region: label(100).describe(`Location of the node, 1 to 100 characters. ${TRIMMED}`),
  gpu_type: label(100).describe(`GPU type, 1 to 100 characters. ${TRIMMED}`),
  hourly_cost_usd: moneyInput.describe('Cost of one hour in US dollars.'),
  endpoint_url: endpointUrl,
};

export const createNodeInput = z
  .strictObject(fields)
  .meta({ id: 'CreateGpuNode', description: 'A node to register.' });
export type CreateNodeInput = z.output<typeof createNodeInput>;

export const updateNodeInput = z
  .strictObject({
    name: fields.name.optional(),
    provider: fields.provider.optional(),
    region: fields.region.optional(),
    gpu_type: fields.gpu_type.optional(),
    hourly_cost_usd: fields.hourly_cost_usd.optional(),
    endpoint_url: fields.endpoint_url.optional(),
    status: z
      .enum(['active', 'draining', 'offline'], 'must be active, draining or offline')
      .optional()
      .describe('`draining` and `offline` stop new calls to the node. Calls in flight finish.'),
    expected_updated_at: z
      .string()
      .regex(TIMESTAMP, 'must be a time such as 2026-11-21T08:55:57.123000Z')
      .optional()
      .meta({
        description:
          'The `updated_at` that your change is based on. If the node has changed since, the request fails with 409 `changed_meanwhile` and changes nothing. Without it, the last change wins.',
        format: 'date-time',
      }),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateGpuNode', description: 'Changes to a node.', minProperties: 1 });
export type UpdateNodeInput = z.output<typeof updateNodeInput>;

/** Any text: a malformed id is treated like an unknown one. */
export const nodeParams = z.object({ id: z.string().describe('Node ID.') });

export const heartbeatsInput = pageInput;

export const heartbeatInput = z
  .strictObject({
    gpu_utilization: z.number().min(0).max(100).nullish().describe('GPU utilization in percent, 0 to 100.'),
    memory_used_gb: z.number().min(0).max(1_000_000).nullish().describe('Used GPU memory in gigabytes.'),
    loaded_models: z
      .array(label(300))
      .max(200)
      .nullish()
      .describe('Names of the loaded models as the node knows them, at most 200.'),
    requests_running: z.int().min(0).max(1_000_000).nullish().describe('Number of requests in progress.'),
    requests_waiting: z.int().min(0).max(1_000_000).nullish().describe('Number of queued requests.'),
    kv_cache_usage: z.number().min(0).max(1).nullish().describe('Used share of the KV cache, 0 to 1.'),
  })
  .nullish()
  .meta({ id: 'Heartbeat', description: 'Metrics of the node. Optional.' });
export type HeartbeatInput = NonNullable<z.output<typeof heartbeatInput>>;

const count = (max: number) => z.int().min(0).max(max);
const milliseconds = z.number().min(0).max(86_400_000);
const optionalMs = (description: string) => milliseconds.nullish().describe(description);
const rate = z.number().min(0).max(1_000_000_000);

export const sweepStepInput = z
  .strictObject({
    concurrency: z.int().min(1).max(100_000).describe('Parallel requests.'),
    tokens_per_second: rate.describe('Generated tokens per second, all requests together.'),
    p95_latency_ms: milliseconds.describe('95th percentile of latency in milliseconds.'),
    ttft_p95_ms: optionalMs('95th percentile of the time to the first token in milliseconds.'),
    goodput: rate.nullish().describe('Requests per second that met the objective.'),
    errors: count(100_000_000).describe('Failed requests.'),
  })
  .meta({ id: 'SubmittedSweepStep', description: 'One concurrency of a sweep.' });

/** The measures of a benchmark, which comparisons use. */
export const MEASURES = [
  'error_rate',
  'tokens_per_second',
  'goodput',
  'p50_latency_ms',
  'p95_latency_ms',
  'ttft_p50_ms',
  'ttft_p95_ms',
  'itl_p50_ms',
  'itl_p95_ms',
  'tpot_p50_ms',
] as const;
export type Measure = (typeof MEASURES)[number];

export const intervalInput = z
  .strictObject({
    measure: z.enum(MEASURES).describe('The measure.'),
    low: rate.describe('Lower end.'),
    high: rate.describe('Upper end.'),
  })
  .refine(({ low, high }) => low <= high, { path: ['high'], message: 'must not be below low' })
  .meta({ id: 'SubmittedInterval', description: '95 % confidence interval of a measure.' });

export const createBenchmarkInput = z
  .strictObject({
    node_id: z.string().max(100).describe('Node ID.'),
    model_public_name: label(200).describe('Public name of the model.'),
    total_requests: count(100_000_000).min(1).describe('Number of requests.'),
    concurrency: z.int().min(1).max(100_000).describe('Parallel requests.'),
    total_tokens: count(Number.MAX_SAFE_INTEGER).describe('Generated tokens, all requests together.'),
    duration_ms: milliseconds.describe('Duration of the run in milliseconds.'),
    tokens_per_second: rate.describe('Generated tokens per second, all requests together.'),
    p50_latency_ms: milliseconds.describe('Median latency in milliseconds.'),
    p95_latency_ms: milliseconds.describe('95th percentile of latency in milliseconds.'),
    errors: count(100_000_000).describe('Failed requests.'),
    ttft_p50_ms: optionalMs('Median time to the first token in milliseconds.'),
    ttft_p95_ms: optionalMs('95th percentile of the time to the first token in milliseconds.'),
    itl_p50_ms: optionalMs('Median time between two tokens in milliseconds.'),
    itl_p95_ms: optionalMs('95th percentile of the time between two tokens in milliseconds.'),
    tpot_p50_ms: optionalMs('Median time per token after the first in milliseconds.'),
    goodput: rate.nullish().describe('Requests per second that met `slo`.'),
    slo: label(200).nullish().describe('The objective, such as `ttft=500ms,itl=50ms`.'),
    sweep: z.array(sweepStepInput).max(64).nullish().describe('The other concurrencies that were tried.'),
    intervals: z
      .array(intervalInput)
      .max(MEASURES.length)
      .nullish()
      .describe(
        'The 95 % interval of each measure, for comparisons. Leave out those that had too few requests.',
      ),
  })
  .refine(({ errors, total_requests: all }) => errors <= all, {
    path: ['errors'],
    message: 'must not exceed total_requests',
  })
  .meta({ id: 'SubmitBenchmark', description: 'The result of a benchmark run.' });
export type CreateBenchmarkInput = z.output<typeof createBenchmarkInput>;

export const listBenchmarksInput = pageInput.extend({
  node_id: z.string().max(100).optional().describe('Only runs on this node.'),
  model: label(200).optional().describe('Only runs of this model, by public name.'),
});
export type ListBenchmarksInput = z.output<typeof listBenchmarksInput>;

export const compareBenchmarksInput = z.strictObject({
  base: z.string().max(100).describe('ID of the run to compare with.'),
  other: z.string().max(100).describe('ID of the run that is compared.'),
});
export type CompareBenchmarksInput = z.output<typeof compareBenchmarksInput>;
