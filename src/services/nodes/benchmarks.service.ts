import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAdmin, type ServiceContext } from '../../context.js';
import { Model } from '../../entities/billing/model.js';
import { GpuBenchmark } from '../../entities/nodes/gpu-benchmark.js';
import { AppError } from '../../errors.js';
import { formatTimestamp } from '../../lib/clock.js';
import { uuidOf } from '../../lib/uuid.js';
import { idOf, notFound } from '../not-found.js';
import { findBenchmark, latestBenchmarks, listBenchmarks } from './benchmarks.store.js';
import { compareRuns } from './compare-benchmarks.rules.js';
import type {
  CompareBenchmarksInput,
  CreateBenchmarkInput,
  ListBenchmarksInput,
  Measure,
} from './nodes.inputs.js';
import type { BenchmarkComparisonOutput, BenchmarkOutput } from './nodes.outputs.js';
import { findNode } from './nodes.store.js';

/** @throws AppError `validation_error` */
async function requireModel(em: EntityManager, publicName: string): Promise<void> {
  if ((await em.count(Model, { publicName })) > 0) return;
  throw new AppError('validation_error', {
    details: [{ field: 'model_public_name', message: 'must be the public name of a model' }],
  });
}

/** Benchmark runs of models on nodes. */
export function createBenchmarksService() {
  return {
    /** For callers with the internal secret. @throws AppError `not_found` for an unknown node, `validation_error` for an unknown model */
    async submit({ em, clock }: ServiceContext, input: CreateBenchmarkInput): Promise<BenchmarkOutput> {
      const nodeId = idOf(input.node_id, 'GPU node', { param: 'node_id' });
      if (!(await findNode(em, nodeId))) throw notFound('GPU node', { param: 'node_id' });
      await requireModel(em, input.model_public_name);
      const made = em.create(GpuBenchmark, {
        nodeId,
        model: input.model_public_name,
        totalRequests: input.total_requests,
        concurrency: input.concurrency,
        totalTokens: input.total_tokens,
        durationMs: input.duration_ms,
        tokensPerSecond: input.tokens_per_second,
        p50LatencyMs: input.p50_latency_ms,
        p95LatencyMs: input.p95_latency_ms,
        errors: input.errors,
        ttftP50Ms: input.ttft_p50_ms ?? null,
        ttftP95Ms: input.ttft_p95_ms ?? null,
        itlP50Ms: input.itl_p50_ms ?? null,
        itlP95Ms: input.itl_p95_ms ?? null,
        tpotP50Ms: input.tpot_p50_ms ?? null,
        goodput: input.goodput ?? null,
        slo: input.slo ?? null,
        sweep: input.sweep?.map((step) => ({
          ...step,
          ttft_p95_ms: step.ttft_p95_ms ?? undefined,
          goodput: step.goodput ?? undefined,
        })),
        intervals: input.intervals ?? null,
        createdAt: new Date(clock.now()),
      });
      await em.persist(made).flush();
      return benchmarkView(made);
    },

    /** Newest first. @throws AppError `unauthorized`, `forbidden` */
    async list(
      context: ServiceContext,
      { node_id: asked, model, ...page }: ListBenchmarksInput,
    ): Promise<BenchmarkOutput[]> {
      requireAdmin(context);
      const nodeId = asked === undefined ? undefined : uuidOf(asked);
      if (asked !== undefined && nodeId === undefined) return [];
      const of = { ...page, ...(nodeId !== undefined && { nodeId }), ...(model !== undefined && { model }) };
      return (await listBenchmarks(context.em, of)).map(benchmarkView);
    },

    /** The latest run of each node and model. @throws AppError `unauthorized`, `forbidden` */
    async latest(context: ServiceContext): Promise<BenchmarkOutput[]> {
      requireAdmin(context);
      return (await latestBenchmarks(context.em)).map(benchmarkView);
    },

    /** Compares two runs, measure by measure. @throws AppError `unauthorized`, `forbidden`, `not_found` */
    async compare(
      context: ServiceContext,
      { base, other }: CompareBenchmarksInput,
    ): Promise<BenchmarkComparisonOutput> {
      requireAdmin(context);
      const found = async (param: string, id: string): Promise<BenchmarkOutput> => {
        const run = await findBenchmark(context.em, idOf(id, 'benchmark', { param }));
        if (!run) throw notFound('benchmark', { param });
        return benchmarkView(run);
      };
      return compareRuns(await found('base', base), await found('other', other));
    },
  };
}

const benchmarkView = (run: GpuBenchmark): BenchmarkOutput => ({
  id: run.id,
  node_id: run.nodeId,
  model_public_name: run.model,
  total_requests: run.totalRequests,
  concurrency: run.concurrency,
  total_tokens: run.totalTokens,
  duration_ms: run.durationMs,
  tokens_per_second: run.tokensPerSecond,
  p50_latency_ms: run.p50LatencyMs,
  p95_latency_ms: run.p95LatencyMs,
  errors: run.errors,
  ttft_p50_ms: run.ttftP50Ms ?? null,
  ttft_p95_ms: run.ttftP95Ms ?? null,
  itl_p50_ms: run.itlP50Ms ?? null,
  itl_p95_ms: run.itlP95Ms ?? null,
  tpot_p50_ms: run.tpotP50Ms ?? null,
  goodput: run.goodput ?? null,
  slo: run.slo ?? null,
  sweep:
    run.sweep?.map((step) => ({
      ...step,
      ttft_p95_ms: step.ttft_p95_ms ?? null,
      goodput: step.goodput ?? null,
    })) ?? null,
  intervals: run.intervals?.map((one) => ({ ...one, measure: one.measure as Measure })) ?? null,
  created_at: formatTimestamp(run.createdAt),
});
