import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { type Measured, oneCall } from './one-call.js';
import type { BenchOptions } from './options.js';
import { meets } from './slo.js';
import { percentile, rounded, seeded } from './statistics.js';

/** The result of one run, by the names of `POST /api/internal/benchmarks`. */
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

function bodies({ model, maxTokens, prompt, seed, stream }: BenchOptions): () => string {
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

/** Makes `count` calls by `workers` at once. */
async function calls(
  options: BenchOptions,
  { count, workers, onDone }: { count: number; workers: number; onDone(done: number): void },
): Promise<{ measured: Measured[]; durationMs: number }> {
  const { key, stream } = options;
  const url = new URL('/v1/chat/completions', options.url);
  const body = bodies(options);
  const agent = new (url.protocol === 'https:' ? SecureAgent : Agent)({ keepAlive: true });
  const measured: Measured[] = [];
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left--;
      measured.push(await oneCall({ url, key, stream, agent, body: body() }));
      onDone(measured.length);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Math.min(workers, count) }, work));
  const durationMs = performance.now() - began;
  agent.destroy();
  return { measured, durationMs };
}

/** Warms up, runs and sums up. */
export async function runBench(
  options: BenchOptions,
  workers: number,
  onProgress: (done: number) => void,
): Promise<RunResult> {
  const { requests, warmup, slo, stream } = options;
  if (warmup > 0) await calls(options, { count: warmup, workers, onDone: () => undefined });
  const { measured, durationMs } = await calls(options, { count: requests, workers, onDone: onProgress });
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
    ...(slo && { slo: slo.text, goodput: rounded(met! / seconds), met: rounded(met! / requests) }),
    ...(error !== undefined && { first_error: error }),
  };
}

function ofTokens(good: readonly Measured[]) {
  const first = good.flatMap(({ ttftMs }) => ttftMs ?? []);
  const gaps = good.flatMap(({ gapsMs }) => gapsMs);
  const each = good.flatMap(({ tpotMs }) => tpotMs ?? []);
  return {
    ttft_p50_ms: rounded(percentile(first, P50)),
    ttft_p95_ms: rounded(percentile(first, P95)),
    itl_p50_ms: rounded(percentile(gaps, P50)),
    itl_p95_ms: rounded(percentile(gaps, P95)),
    tpot_p50_ms: rounded(percentile(each, P50)),
  };
}
