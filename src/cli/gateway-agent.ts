#!/usr/bin/env node
/**
 * gateway-agent: tells the gateway that this node lives, and how it is. One file without packages: copy it to a node that has
 * Node.js 18.17 or newer, or fetch it from the gateway (`/gateway-agent.mjs`). `--help` lists the options; docs/nodes.md has a
 * systemd unit.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';

const HELP = `Usage: node gateway-agent.mjs --url URL --node ID --secret-file FILE [options]

  --url URL           address of the gateway, such as https://gateway.example.com
  --node ID           ID of this node in the registry
  --secret-file FILE  file with the value of GPU_HEARTBEAT_SECRET
  --interval SECONDS  time between two heartbeats, 60 by default
  --serves URL        the model server of this node, http://127.0.0.1:8000 by default; vLLM and SGLang are read
  --once              send one heartbeat and exit
`;
const MS = 1_000;
/** Of one request to the gateway, and of each look at the node. */
const TIMEOUT_MS = 10_000;
const LOOK_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const MIB_PER_GB = 1_000_000_000 / (1024 * 1024);

/** Fields of a heartbeat. */
interface Readings {
  gpu_utilization?: number;
  memory_used_gb?: number;
  loaded_models?: string[];
  requests_running?: number;
  requests_waiting?: number;
  kv_cache_usage?: number;
}

/** Names of the same gauge in vLLM and SGLang, newer ones first. */
const GAUGES = {
  requests_running: ['vllm:num_requests_running', 'sglang:num_running_reqs'],
  requests_waiting: ['vllm:num_requests_waiting', 'sglang:num_queue_reqs'],
  kv_cache_usage: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc', 'sglang:token_usage'],
} as const;

const say = (message: string): void =>
  void process.stdout.write(`${new Date().toISOString()} gateway-agent: ${message}\n`);

function fail(message: string): never {
  process.stderr.write(`gateway-agent: ${message}\n\n${HELP}`);
  process.exit(78);
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: 'string' },
        node: { type: 'string' },
        'secret-file': { type: 'string' },
        interval: { type: 'string', default: '60' },
        serves: { type: 'string', default: 'http://127.0.0.1:8000' },
        once: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const { url, node, 'secret-file': file } = values;
    if (!url || !URL.canParse(url)) fail('--url must be the address of the gateway');
    if (!node) fail('--node must be the ID of this node');
    if (!file) fail('--secret-file must name a file');
    const intervalMs = Number(values.interval) * MS;
    if (!URL.canParse(values.serves)) fail('--serves must be the address of the model server');
    if (!(intervalMs >= MS)) fail('--interval must be at least 1 second');
    const secret = readFileSync(file, 'utf8').trim();
    if (secret === '') fail(`${file} is empty`);
    const target = new URL(`/api/internal/gpu-nodes/${encodeURIComponent(node)}/heartbeat`, url);
    return { target, secret, intervalMs, serves: new URL(values.serves).origin, once: values.once };
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** A gauge with the values of all its labels in one; undefined if the text has none of the names. */
function gauge(
  text: string,
  names: readonly string[],
  combine: (values: number[]) => number,
): number | undefined {
  for (const name of names) {
    const values = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
      .filter(Number.isFinite);
    if (values.length > 0) return combine(values);
  }
  return undefined;
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_MS) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

async function gpus(): Promise<Readings> {
  const args = ['--query-gpu=utilization.gpu,memory.used', '--format=csv,noheader,nounits'];
  const { stdout } = await promisify(execFile)('nvidia-smi', args, { timeout: LOOK_MS });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number))
    .filter(([use, memory]) => Number.isFinite(use) && Number.isFinite(memory)) as [number, number][];
  if (rows.length === 0) return {};
  const sum = (index: 0 | 1): number => rows.reduce((total, row) => total + row[index], 0);
  return {
    gpu_utilization: Math.round(sum(0) / rows.length),
    memory_used_gb: Math.round((sum(1) / MIB_PER_GB) * 100) / 100,
  };
}

async function models(serves: string): Promise<Readings> {
  const { data } = JSON.parse(await textAt(`${serves}/v1/models`)) as { data?: { id?: unknown }[] };
  const ids = (data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string' && id !== '');
  return { loaded_models: ids.slice(0, 200) as string[] };
}

async function queue(serves: string): Promise<Readings> {
  const text = await textAt(`${serves}/metrics`);
  const found: Readings = {};
  for (const name of ['requests_running', 'requests_waiting'] as const) {
    const value = gauge(text, GAUGES[name], (values) => values.reduce((sum, one) => sum + one, 0));
    if (value !== undefined) found[name] = Math.round(value);
  }
  const usage = gauge(text, GAUGES.kv_cache_usage, (values) => Math.max(...values));
  if (usage !== undefined) found.kv_cache_usage = Math.min(1, Math.max(0, usage));
  return found;
}

/** `nvidia-smi` may hang in the driver and ignore the signal that should end it. */
async function bounded(look: Promise<Readings>): Promise<Readings> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), 2 * LOOK_MS);
  });
  return Promise.race([look, late]).finally(() => clearTimeout(timer));
}

/** Whatever can be learned of this node. What can't be read is left out. */
async function readings(serves: string): Promise<Readings> {
  const looks = await Promise.allSettled([gpus(), models(serves), queue(serves)].map(bounded));
  return Object.assign(
    {},
    ...looks.map((look) => (look.status === 'fulfilled' ? look.value : {})),
  ) as Readings;
}

const HINTS: Record<number, string> = {
  401: 'the secret is not GPU_HEARTBEAT_SECRET of the gateway',
  404: 'the gateway has no node with this ID',
  422: 'the gateway does not take these metrics; is this agent newer?',
  503: 'the gateway has no GPU_HEARTBEAT_SECRET, or is starting',
};

const { target, secret, intervalMs, serves, once } = options();
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

/** Sends one heartbeat. @returns What went wrong; undefined when nothing did. */
async function send(body: Readings): Promise<string | undefined> {
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([ending.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.arrayBuffer();
    if (response.ok) return undefined;
    return `status ${response.status}: ${HINTS[response.status] ?? 'the gateway refused the heartbeat'}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message}${cause instanceof Error ? `: ${cause.message}` : ''}`;
  }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      ending.signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    ending.signal.addEventListener('abort', end);
  });

let fault: string | undefined;
let told = false;

/** One heartbeat, and retries with growing pauses until the next is due. */
async function beat(): Promise<void> {
  const until = performance.now() + intervalMs;
  for (let pauseMs = FIRST_RETRY_MS; !ending.signal.aborted; pauseMs *= 2) {
    const body = await readings(serves);
    const now = await send(body);
    if (ending.signal.aborted) return;
    if (now !== fault || !told) {
      const names = Object.keys(body).join(', ') || 'no metrics';
      say(now ?? `the gateway hears this node; reported: ${names}`);
    }
    [fault, told] = [now, true];
    // Many nodes that lost the gateway together don't come back together.
    const waitMs = pauseMs * (0.5 + Math.random());
    if (now === undefined || once || performance.now() + waitMs >= until) break;
    await pause(waitMs);
  }
}

while (!ending.signal.aborted) {
  // Not the time of day, which may be set back by hours.
  const began = performance.now();
  await beat();
  if (once) process.exit(fault === undefined ? 0 : 1);
  await pause(Math.max(0, began + intervalMs - performance.now()));
}
say('stopped');
