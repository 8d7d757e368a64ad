import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { uuidOf } from '../../lib/uuid.js';
import { parseSlo, type Slo } from './slo.js';

export const HELP = `Usage: npm run gateway-bench -- --url URL --key-file FILE --model NAME [options]

  --url URL           address of the gateway, http://localhost:8080 by default
  --key-file FILE     file with the API key
  --model NAME        public name of the model
  --requests N        number of requests, 100 by default
  --workers N         parallel requests, at most as many as requests; 8 by default
  --max-tokens N      max_tokens of each request, 128 by default
  --prompt TEXT       prompt of every request; random words by default
  --seed N            seed of the random words, 1 by default
  --warmup N          requests before the run that don't count, 0 by default
  --stream            stream, and measure tokens one by one
  --sweep N,N,...     run once for each of these numbers of workers, 64 at most
  --slo LIST          objective of a request: ttft=500ms,itl=50ms,tpot=40ms,latency=5s
  --node ID           submit the result for this node
  --secret-file FILE  file with the value of GPU_HEARTBEAT_SECRET, to submit with
  --json              print JSON
`;

export interface BenchOptions {
  url: URL;
  key: string;
  model: string;
  requests: number;
  workers: number;
  maxTokens: number;
  prompt: string | undefined;
  seed: number;
  warmup: number;
  stream: boolean;
  sweep: number[];
  slo: Slo | undefined;
  submit: { node: string; secret: string } | undefined;
  json: boolean;
}

/** Invalid options. The message is printed. */
export class OptionError extends Error {}

const SPEC = {
  url: { type: 'string', default: 'http://localhost:8080' },
  'key-file': { type: 'string' },
  model: { type: 'string' },
  requests: { type: 'string', default: '100' },
  workers: { type: 'string' },
  'max-tokens': { type: 'string', default: '128' },
  prompt: { type: 'string' },
  seed: { type: 'string', default: '1' },
  warmup: { type: 'string', default: '0' },
  stream: { type: 'boolean', default: false },
  sweep: { type: 'string' },
  slo: { type: 'string' },
  node: { type: 'string' },
  'secret-file': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

// The gateway's limits of a result, checked early: otherwise the result would be rejected after the measurement.
const MOST_REQUESTS = 100_000_000;
const MOST_WORKERS = 100_000;
const MOST_STEPS = 64;
const LONGEST_NAME = 200;
const USUAL_WORKERS = 8;

function whole(name: string, text: string, least: number, most = 999_999_999): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
  throw new OptionError(`--${name} must be a whole number from ${least} to ${most}`);
}

/** Reads numbers of workers. More workers than requests would never run at once. */
function workersOf(name: 'workers' | 'sweep', texts: readonly string[], requests: number): number[] {
  const numbers = texts.map((text) => whole(name, text.trim(), 1, MOST_WORKERS));
  if (numbers.every((workers) => workers <= requests)) return numbers;
  throw new OptionError(`--${name} must not exceed --requests, which is ${requests}`);
}

function stepsOf(text: string | undefined, requests: number): number[] {
  const texts = text?.split(',') ?? [];
  if (texts.length > MOST_STEPS) throw new OptionError(`--sweep must have at most ${MOST_STEPS} numbers`);
  return workersOf('sweep', texts, requests);
}

function submissionOf(node: string | undefined, secretFile: string | undefined): BenchOptions['submit'] {
  if (!node) return undefined;
  const secret = fileOf('secret-file', secretFile);
  const id = uuidOf(node);
  if (id === undefined) throw new OptionError('--node must be the ID of a node');
  return { node: id, secret };
}

function fileOf(name: string, path: string | undefined): string {
  if (path === undefined) throw new OptionError(`--${name} must name a file`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new OptionError(`--${name}: ${(error as Error).message}`);
  }
}

// Without `http://`, `localhost:8080` is a URL too.
const isHttp = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/** Reads the command line; returns `help` for `--help`. @throws OptionError */
export function readOptions(args: string[]): BenchOptions | 'help' {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
  if (values.help) return 'help';
  if (!isHttp(values.url))
    throw new OptionError('--url must be the address of the gateway, with http:// or https://');
  if (!values.model || values.model.length > LONGEST_NAME)
    throw new OptionError('--model must be the public name of a model');
  const slo = values.slo === undefined ? undefined : parseSlo(values.slo);
  if (typeof slo === 'string') throw new OptionError(`--slo ${slo}`);
  const requests = whole('requests', values.requests, 1, MOST_REQUESTS);
  const { workers = String(Math.min(USUAL_WORKERS, requests)) } = values;
  return {
    url: new URL(values.url),
    key: fileOf('key-file', values['key-file']),
    model: values.model,
    requests,
    workers: workersOf('workers', [workers], requests)[0]!,
    maxTokens: whole('max-tokens', values['max-tokens'], 1),
    prompt: values.prompt,
    seed: whole('seed', values.seed, 0),
    warmup: whole('warmup', values.warmup, 0),
    stream: values.stream,
    sweep: stepsOf(values.sweep, requests),
    slo,
    submit: submissionOf(values.node, values['secret-file']),
    json: values.json,
  };
}

const parse = (args: string[]) => parseArgs({ args, options: SPEC }).values;
