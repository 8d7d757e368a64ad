import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { type Measured, oneCall } from './one-call.js';
import type { BenchOptions } from './options.js';
import { meets } from './slo.js';
import {
  percentile,
  percentileInterval,
  rateInterval,
  rounded,
  type SampledWork,
  type SampleInterval,
  seeded,
} from './statistics.js';

/** The result of one run, with the field names of `POST /api/internal/benchmarks`. */
export interface RunResult {
  total_requests: number;
  concurrency: number;
  total_tokens: number;
  duration_ms: number;
  tokens_per_second: number;
  p50_latency_ms: number;
  p95_latency_ms: number;
  errors: number;
  ttft_p50_ms?: number;
  ttft_p95_ms?: number;
  itl_p50_ms?: number;
  itl_p95_ms?: number;
  tpot_p50_ms?: number;
  goodput?: number;
  slo?: string;
  /** Only for measures with enough requests. */
  intervals: ({ measure: string } & SampleInterval)[];
  /** Share of the requests that met the objective; not submitted. */
  met?: number;
  /** The first error; not submitted. */
  first_error?: string;
}

const WORDS = 'river stone cloud lamp forest paper engine garden window bridge signal copper'.split(' ');
const PROMPT_WORDS = 40;
const MS_PER_SECOND = 1000;
const P50 = 0.5;
const P95 = 0.95;
/** Workers start one after the other. In step, each would also measure the time that the others take to send and read. */
const MOST_APART_MS = 5;
const RAMP_MS = 1_000;

/**
 * Returns a function that makes the body of the next request. All runs of a program must share one sequence: a repeated prompt
 * would hit the prefix cache of the node.
 */
export function bodiesOf({ model, maxTokens, prompt, seed, stream }: BenchOptions): () => string {
  const random = seeded(seed);
  const words = () =>
    Array.from({ length: PROMPT_WORDS }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  return () =>
    JSON.stringify({
      model,
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: prompt ?? `Tell me about: ${words()}` }],
      ...(stream && { stream: true, stream_options: { include_usage: true } }),
    });
}

/** A measured call with its start, in milliseconds since the start of the run. */
interface Timed extends Measured {
  from: number;
}

/** Makes `count` calls, `workers` at a time. */
async function calls(
  options: BenchOptions,
  {
    count,
    workers,
    body,
    agent,
    onDone,
  }: { count: number; workers: number; body(): string; agent: Agent; onDone(done: number): void },
): Promise<{ measured: Timed[]; durationMs: number }> {
  const { key, stream } = options;
  const url = new URL('/v1/chat/completions', options.url);
  const measured: Timed[] = [];
  let left = count;
  const apartMs = Math.min(MOST_APART_MS, RAMP_MS / workers);
  const work = async (_: unknown, worker: number): Promise<void> => {
    await delay(worker * apartMs);
    while (left > 0) {
      left--;
      const from = performance.now() - began;
      measured.push({ from, ...(await oneCall({ url, key, stream, agent, body: body() })) });
      onDone(measured.length);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Math.min(workers, count) }, work));
  const durationMs = performance.now() - began;
  return { measured, durationMs };
}

export async function runBench(
  options: BenchOptions,
  { workers, body, onProgress }: { workers: number; body(): string; onProgress(done: number): void },
): Promise<RunResult> {
  const { requests, warmup, slo, stream } = options;
  // One agent for warm-up and run, so that connections exist before the measurement.
  const agent = new (options.url.protocol === 'https:' ? SecureAgent : Agent)({ keepAlive: true });
  const parts = { workers, body, agent };
  if (warmup > 0) await calls(options, { ...parts, count: warmup, onDone: () => undefined });
  const { measured, durationMs } = await calls(options, { ...parts, count: requests, onDone: onProgress });
  agent.destroy();
  const good = measured.filter(({ ok }) => ok);
  const tokens = good.reduce((sum, call) => sum + call.tokens, 0);
  const seconds = durationMs / MS_PER_SECOND;
  const latencies = good.map(({ latencyMs }) => latencyMs);
  const met = slo && measured.filter((call) => meets(call, slo)).length;
  const error = measured.find((call) => call.error !== undefined)?.error;
  return {
    total_requests: requests,
    concurrency: workers,
    total_tokens: tokens,
    duration_ms: rounded(durationMs),
    tokens_per_second: rounded(tokens / seconds),
    p50_latency_ms: rounded(percentile(latencies, P50)),
    p95_latency_ms: rounded(percentile(latencies, P95)),
    errors: measured.length - good.length,
    ...(stream && ofTokens(good)),
    intervals: intervalsOf(measured, good, durationMs, options),
    ...(slo && { slo: slo.text, goodput: rounded(met! / seconds), met: rounded(met! / requests) }),
    ...(error !== undefined && { first_error: error }),
  };
}

function ofTokens(good: readonly Measured[]) {
  const first = good.flatMap(({ ttftMs }) => ttftMs ?? []);
  const gaps = good.flatMap(({ gapsMs }) => gapsMs);
  const each = good.flatMap(({ tpotMs }) => tpotMs ?? []);
  // A single token has no gap and no rate: measures without values are left out.
  return {
    ...(first.length > 0 && {
      ttft_p50_ms: rounded(percentile(first, P50)),
      ttft_p95_ms: rounded(percentile(first, P95)),
    }),
    ...(gaps.length > 0 && {
      itl_p50_ms: rounded(percentile(gaps, P50)),
      itl_p95_ms: rounded(percentile(gaps, P95)),
    }),
    ...(each.length > 0 && { tpot_p50_ms: rounded(percentile(each, P50)) }),
  };
}

/** The confidence intervals of the figures. */
function intervalsOf(
  measured: readonly Timed[],
  good: readonly Timed[],
  durationMs: number,
  { slo, stream }: BenchOptions,
): RunResult['intervals'] {
  const latencies = good.map(({ latencyMs }) => latencyMs);
  const first = good.flatMap(({ ttftMs }) => ttftMs ?? []);
  const gaps = good.flatMap(({ gapsMs }) => gapsMs);
  const each = good.flatMap(({ tpotMs }) => tpotMs ?? []);
  const met = slo && measured.filter((call) => meets(call, slo));
  const found: Record<string, SampleInterval | undefined> = {
    tokens_per_second: rateInterval(
      workOf(good, ({ tokens }) => tokens),
      durationMs,
    ),
    goodput:
      met &&
      rateInterval(
        workOf(met, () => 1),
        durationMs,
      ),
    p50_latency_ms: percentileInterval(latencies, P50),
    p95_latency_ms: percentileInterval(latencies, P95),
    ...(stream && {
      ttft_p50_ms: percentileInterval(first, P50),
      ttft_p95_ms: percentileInterval(first, P95),
      itl_p50_ms: percentileInterval(gaps, P50, good.length),
      itl_p95_ms: percentileInterval(gaps, P95, good.length),
      tpot_p50_ms: percentileInterval(each, P50),
    }),
  };
  return Object.entries(found).flatMap(([measure, interval]) =>
    interval ? [{ measure, low: rounded(interval.low), high: rounded(interval.high) }] : [],
  );
}

const workOf = (calls: readonly Timed[], amountOf: (call: Timed) => number): SampledWork[] =>
  calls.map((call) => ({ from: call.from, to: call.from + call.latencyMs, amount: amountOf(call) }));
