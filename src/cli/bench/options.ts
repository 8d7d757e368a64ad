import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseSlo, type Slo } from './slo.js';

export const HELP = `Usage: npm run gateway-bench -- --url URL --key-file FILE --model NAME [options]

  --url URL           address of the gateway, http://localhost:8080 by default
  --key-file FILE     file with the API key
  --model NAME        public name of the model
  --requests N        number of requests, 100 by default
  --workers N         parallel requests, 8 by default
  --max-tokens N      max_tokens of each request, 128 by default
  --prompt TEXT       prompt of every request; random words by default
  --seed N            seed of the random words, 1 by default
  --warmup N          requests before the run that don't count, 0 by default
  --stream            stream, and measure tokens one by one
  --sweep N,N,...     run once for each of these numbers of workers
  --slo LIST          objective of a request: ttft=500ms,itl=50ms,tpot=40ms,latency=5s
  --node ID           submit the result for this node
  --secret-file FILE  file with the value of GPU_HEARTBEAT_SECRET, to submit with
  --json              print JSON
`;

/** What a benchmark was told to do. */
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

/** Options that make no sense. The message is for the person who gave them. */
export class OptionError extends Error {}

const SPEC = {
  url: { type: 'string', default: 'http://localhost:8080' },
  'key-file': { type: 'string' },
  model: { type: 'string' },
  requests: { type: 'string', default: '100' },
  workers: { type: 'string', default: '8' },
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

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= least) return value;
  throw new OptionError(`--${name} must be a whole number of at least ${least}`);
}

function fileOf(name: string, path: string | undefined): string {
  if (path === undefined) throw new OptionError(`--${name} must name a file`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new OptionError(`--${name}: ${(error as Error).message}`);
  }
}

/** Reads the command line; `help` where that was asked. @throws OptionError */
export function readOptions(args: string[]): BenchOptions | 'help' {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
  if (values.help) return 'help';
  if (!URL.canParse(values.url)) throw new OptionError('--url must be the address of the gateway');
  if (!values.model) throw new OptionError('--model must be the public name of a model');
  const slo = values.slo === undefined ? undefined : parseSlo(values.slo);
  if (typeof slo === 'string') throw new OptionError(`--slo ${slo}`);
  return {
    url: new URL(values.url),
    key: fileOf('key-file', values['key-file']),
    model: values.model,
    requests: whole('requests', values.requests, 1),
    workers: whole('workers', values.workers, 1),
    maxTokens: whole('max-tokens', values['max-tokens'], 1),
    prompt: values.prompt,
    seed: whole('seed', values.seed, 0),
    warmup: whole('warmup', values.warmup, 0),
    stream: values.stream,
    sweep: values.sweep?.split(',').map((text) => whole('sweep', text.trim(), 1)) ?? [],
    slo,
    submit: values.node
      ? { node: values.node, secret: fileOf('secret-file', values['secret-file']) }
      : undefined,
    json: values.json,
  };
}

const parse = (args: string[]) => parseArgs({ args, options: SPEC }).values;
