import { type BenchOptions, HELP, OptionError, readOptions } from './bench/options.js';
import { bodiesOf, type RunResult, runBench } from './bench/run.js';

/**
 * `npm run gateway-bench --`: measures a model through the gateway and can submit the result for a node. Exit code 1 if every
 * request failed or the result was rejected, 78 for invalid options.
 */
const EXIT_CONFIG = 78;
/** A concurrency holds if at least this share of its requests meets the objective. */
const HOLDS = 0.95;
const BENCHMARKS_PATH = '/api/internal/benchmarks';

const say = (text: string): void => void process.stdout.write(text);
const sayOnStderr = (text: string): void => void process.stderr.write(text);

/** Text of measured percentiles; undefined without measurements. */
const measured = (p50: number | undefined, p95?: number): string | undefined =>
  p50 === undefined ? undefined : `p50 ${p50} ms${p95 === undefined ? '' : `, p95 ${p95} ms`}`;

function lines(result: RunResult): string {
  const rows: [string, string | undefined][] = [
    ['requests', `${result.total_requests}, ${result.errors} failed, ${result.concurrency} at once`],
    ['tokens', `${result.total_tokens}, ${result.tokens_per_second}/s`],
    ['latency', `p50 ${result.p50_latency_ms} ms, p95 ${result.p95_latency_ms} ms`],
    ['first token', measured(result.ttft_p50_ms, result.ttft_p95_ms)],
    ['between tokens', measured(result.itl_p50_ms, result.itl_p95_ms)],
    ['per token', measured(result.tpot_p50_ms)],
    [
      'goodput',
      result.slo && `${result.goodput} requests/s, ${Math.round(result.met! * 100)} % met ${result.slo}`,
    ],
    ['first error', result.first_error],
  ];
  return `${rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(15)} ${value}\n`)
    .join('')}\n`;
}

function progress({ requests, json }: BenchOptions, workers: number): (done: number) => void {
  if (json || !process.stderr.isTTY) return () => undefined;
  return (done) =>
    sayOnStderr(`\r${workers} at once: ${done} of ${requests}${done === requests ? '\n' : ''}`);
}

/** The run to submit: the highest concurrency that holds, or the first run if none does. */
function chosen(results: readonly RunResult[]): RunResult {
  const holding = results.filter(({ met = 0, errors }) => met >= HOLDS && errors === 0);
  return holding.toSorted((a, b) => b.concurrency - a.concurrency)[0] ?? results[0]!;
}

/** The request body of a submission. */
function submission({ model, submit }: BenchOptions, results: readonly RunResult[]): string {
  const { met: _met, first_error: _error, ...result } = chosen(results);
  const sweep = results.map((step) => ({
    concurrency: step.concurrency,
    tokens_per_second: step.tokens_per_second,
    p95_latency_ms: step.p95_latency_ms,
    ttft_p95_ms: step.ttft_p95_ms,
    goodput: step.goodput,
    errors: step.errors,
  }));
  return JSON.stringify({
    node_id: submit!.node,
    model_public_name: model,
    ...result,
    ...(results.length > 1 && { sweep }),
  });
}

async function submit({ url, submit }: BenchOptions, body: string): Promise<void> {
  const response = await fetch(new URL(BENCHMARKS_PATH, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${submit!.secret}`, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`the gateway rejected the result: status ${response.status}: ${text.slice(0, 500)}`);
}

async function main(options: BenchOptions): Promise<void> {
  const results: RunResult[] = [];
  const body = bodiesOf(options);
  for (const workers of options.sweep.length > 0 ? options.sweep : [options.workers]) {
    const result = await runBench(options, { workers, body, onProgress: progress(options, workers) });
    results.push(result);
    if (!options.json) say(lines(result));
  }
  const best = chosen(results);
  if (options.json) {
    say(`${JSON.stringify(results.length > 1 ? { ...best, sweep: results } : best, null, 2)}\n`);
  } else if (options.slo && results.length > 1) {
    const holds = (best.met ?? 0) >= HOLDS && best.errors === 0;
    say(
      holds
        ? `${options.slo.text} holds up to ${best.concurrency} at once\n`
        : `${options.slo.text} never holds\n`,
    );
  }
  if (best.errors === best.total_requests) throw new Error(`every request failed: ${best.first_error}`);
  if (options.submit) {
    const body = submission(options, results);
    try {
      await submit(options, body);
    } catch (error) {
      // The run may have taken an hour, so its result must not be lost.
      if (!options.json)
        say(`not submitted; to do it later, send this to POST ${BENCHMARKS_PATH}:\n${body}\n`);
      throw error;
    }
    if (!options.json) say('submitted\n');
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') say(HELP);
  else await main(options);
} catch (error) {
  sayOnStderr(`gateway-bench: ${(error as Error).message}\n`);
  if (error instanceof OptionError) sayOnStderr(`\n${HELP}`);
  process.exitCode = error instanceof OptionError ? EXIT_CONFIG : 1;
}
