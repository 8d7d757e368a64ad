import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';

/** Results at one concurrency of a sweep. */
export interface StoredSweepStep {
  concurrency: number;
  tokens_per_second: number;
  p95_latency_ms: number;
  ttft_p95_ms?: number | undefined;
  goodput?: number | undefined;
  errors: number;
}

/** The 95 % interval of a measure. */
export interface StoredInterval {
  measure: string;
  low: number;
  high: number;
}

/** One benchmark run of a model on a node. Outlives its node. */
const GpuBenchmarkSchema = defineEntity({
  name: 'GpuBenchmark',
  tableName: 'gpu_benchmarks',
  indexes: [
    {
      name: 'gpu_benchmarks_latest',
      columns: [{ name: 'node_id' }, { name: 'model' }, { name: 'created_at', sort: 'desc' }],
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    nodeId: p.uuid(),
    model: p.text(),
    totalRequests: p.integer(),
    concurrency: p.integer(),
    totalTokens: p.bigint('number'),
    durationMs: p.double().$type<number>(),
    tokensPerSecond: p.double().$type<number>(),
    p50LatencyMs: p.double().$type<number>().name('p50_latency_ms'),
    p95LatencyMs: p.double().$type<number>().name('p95_latency_ms'),
    errors: p.integer(),
    ttftP50Ms: p.double().$type<number>().name('ttft_p50_ms').nullable(),
    ttftP95Ms: p.double().$type<number>().name('ttft_p95_ms').nullable(),
    itlP50Ms: p.double().$type<number>().name('itl_p50_ms').nullable(),
    itlP95Ms: p.double().$type<number>().name('itl_p95_ms').nullable(),
    tpotP50Ms: p.double().$type<number>().name('tpot_p50_ms').nullable(),
    /** Requests per second that met `slo`. */
    goodput: p.double().$type<number>().nullable(),
    /** As passed to the benchmark: `ttft=500ms,itl=50ms`. */
    slo: p.text().nullable(),
    sweep: p.json<StoredSweepStep[]>().nullable(),
    /** Of the measures with enough requests for an interval. */
    intervals: p.json<StoredInterval[]>().nullable(),
    createdAt: p.datetime(6),
  },
});

export class GpuBenchmark extends GpuBenchmarkSchema.class {}
GpuBenchmarkSchema.setClass(GpuBenchmark);
