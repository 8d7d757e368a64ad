#!/usr/bin/env node
/**
 * gateway-agent: sends heartbeats and metrics of this node to the gateway. A single file without packages: copy it to a node
 * with Node.js 18.17, 20.3 or newer, or fetch it from the gateway (`/gateway-agent.mjs`). `--help` lists the options;
 * docs/nodes.md has a systemd unit.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
// A namespace import: older versions have no `parseArgs`, and a named import would fail before `requireNode` explains why.
import util from 'node:util';

const HELP = `Usage: node gateway-agent.mjs --url URL --node ID --secret-file FILE [options]

  --url URL               address of the gateway, such as https://gateway.example.com
  --node ID               ID of this node in the registry
  --secret-file FILE      file with the value of GPU_HEARTBEAT_SECRET, read again when the gateway refuses it
  --interval SECONDS      time between two heartbeats, 60 by default, at most a day
  --serves URL            the model server of this node, http://127.0.0.1:8000 by default; vLLM and SGLang are read
  --serves-key-file FILE  file with the API key of the model server, if it needs one
  --once                  send one heartbeat and exit
`;
const MS = 1_000;
/** Node's timers fire at once beyond 24 days. */
const MAX_INTERVAL_MS = 86_400_000;
/** Timeout of a request to the gateway. */
const TIMEOUT_MS = 10_000;
/** Timeout of each reading of the node. */
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

/** The model server of this node, and the headers of requests to it. */
interface ModelServer {
  origin: string;
  headers: Record<string, string>;
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

function requireNode(): void {
  // The newest feature in use: added in 18.17 and 20.3, never in 19.
  if (typeof globalThis.AbortSignal?.any === 'function') return;
  fail(`Node.js 18.17, 20.3 or newer is needed; this is ${process.versions.node}`);
}

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function wordIn(file: string): string {
  const word = readFileSync(file, 'utf8').trim();
  return word === '' ? fail(`${file} is empty`) : word;
}

function options() {
  try {
    const { values } = util.parseArgs({
      options: {
        url: { type: 'string' },
        node: { type: 'string' },
        'secret-file': { type: 'string' },
        interval: { type: 'string', default: '60' },
        serves: { type: 'string', default: 'http://127.0.0.1:8000' },
        'serves-key-file': { type: 'string' },
        once: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const { url, node, 'secret-file': file, 'serves-key-file': keyFile } = values;
    if (!url || !isHttp(url)) fail('--url must be the address of the gateway, with http:// or https://');
    if (!node) fail('--node must be the ID of this node');
    if (!file) fail('--secret-file must name a file');
    const intervalMs = Number(values.interval) * MS;
    if (!isHttp(values.serves))
      fail('--serves must be the address of the model server, with http:// or https://');
    if (!(intervalMs >= MS && intervalMs <= MAX_INTERVAL_MS))
      fail('--interval must be from 1 to 86400 seconds');
    const secret = wordIn(file);
    const target = new URL(`/api/internal/gpu-nodes/${encodeURIComponent(node)}/heartbeat`, url);
    const serves: ModelServer = { origin: new URL(values.serves).origin, headers: {} };
    if (keyFile) serves.headers.authorization = `Bearer ${wordIn(keyFile)}`;
    return { target, file, secret, intervalMs, serves, once: values.once };
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Combines the values of a gauge over all its labels; undefined if the text has none of the names. */
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

async function textAt({ origin, headers }: ModelServer, path: string): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers, signal: AbortSignal.timeout(LOOK_MS) });
  if (response.ok) return response.text();
  await response.arrayBuffer();
  const hint = response.status === 401 ? ', --serves-key-file must name a file with its API key' : '';
  throw new Error(`status ${response.status}${hint}`);
}

const LATE = 'no answer in time';
let isReadingGpus = false;

/** The output of `nvidia-smi`. Doesn't start another while an earlier one hangs. */
async function readGpus(): Promise<string> {
  if (isReadingGpus) throw new Error(LATE);
  isReadingGpus = true;
  const args = ['--query-gpu=utilization.gpu,memory.used', '--format=csv,noheader,nounits'];
  const limits = { timeout: LOOK_MS, killSignal: 'SIGKILL' } as const;
  try {
    return (await util.promisify(execFile)('nvidia-smi', args, limits)).stdout;
  } finally {
    isReadingGpus = false;
  }
}

/**
 * Reads utilization and memory. `nvidia-smi` prints `[N/A]` for the utilization of a divided GPU (MIG), and for memory shared
 * with the machine; the other value is still reported.
 */
async function gpus(): Promise<Readings> {
  const rows = (await readGpus())
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number));
  const known = (column: 0 | 1): number[] => rows.map((row) => row[column]!).filter(Number.isFinite);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const [uses, memories] = [known(0), known(1)];
  return {
    ...(uses.length > 0 && { gpu_utilization: Math.round(sum(uses) / uses.length) }),
    ...(memories.length > 0 && { memory_used_gb: Math.round((sum(memories) / MIB_PER_GB) * 100) / 100 }),
  };
}

async function models(serves: ModelServer): Promise<Readings> {
  const { data } = JSON.parse(await textAt(serves, '/v1/models')) as { data?: { id?: unknown }[] };
  const ids = (data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string' && id !== '');
  return { loaded_models: ids.slice(0, 200) as string[] };
}

async function queue(serves: ModelServer): Promise<Readings> {
  const text = await textAt(serves, '/metrics');
  const found: Readings = {};
  for (const name of ['requests_running', 'requests_waiting'] as const) {
    const value = gauge(text, GAUGES[name], (values) => values.reduce((sum, one) => sum + one, 0));
    if (value !== undefined) found[name] = Math.round(value);
  }
  const usage = gauge(text, GAUGES.kv_cache_usage, (values) => Math.max(...values));
  if (usage !== undefined) found.kv_cache_usage = Math.min(1, Math.max(0, usage));
  return found;
}

/** Gives up on a reading that takes too long: `nvidia-smi` may hang in the driver, where no signal ends it. */
async function bounded(look: Promise<Readings>): Promise<Readings> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(LATE)), 2 * LOOK_MS);
  });
  return Promise.race([look, late]).finally(() => clearTimeout(timer));
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  // For a command that failed, Node appends its output.
  return `${message.split('\n', 1)[0]}${cause instanceof Error ? `: ${cause.message}` : ''}`;
}

/** All readings of this node that succeed, and why the others are missing. */
async function readings(serves: ModelServer): Promise<{ body: Readings; unread: string }> {
  const looks: [string, Promise<Readings>][] = [
    ['nvidia-smi', gpus()],
    [`${serves.origin}/v1/models`, models(serves)],
    [`${serves.origin}/metrics`, queue(serves)],
  ];
  const ends = await Promise.allSettled(looks.map(([, look]) => bounded(look)));
  const unread = ends.flatMap((end, at) =>
    end.status === 'rejected' ? `${looks[at]![0]} (${reasonOf(end.reason)})` : [],
  );
  const body = Object.assign({}, ...ends.map((end) => (end.status === 'fulfilled' ? end.value : {})));
  return { body: body as Readings, unread: unread.join(', ') };
}

const UNAUTHORIZED = 401;
const REFUSED = 422;
const HINTS: Record<number, string> = {
  401: 'the secret is not GPU_HEARTBEAT_SECRET of the gateway',
  404: 'the gateway has no node with this ID',
  422: 'the gateway does not accept these metrics, so they are left out; is this agent newer?',
  503: 'the gateway has no GPU_HEARTBEAT_SECRET, or is starting',
};

requireNode();
const { target, file, secret: firstSecret, intervalMs, serves, once } = options();
let secret = firstSecret;
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

/** Sends one request. @returns Its status */
async function post(body: Readings): Promise<number> {
  const response = await fetch(target, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.any([ending.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Like `post`. If the gateway refuses the secret, reads the file again, since it may have been rotated. */
async function postWithNewestSecret(body: Readings): Promise<number> {
  const status = await post(body);
  if (status !== UNAUTHORIZED) return status;
  const newest = readFileSync(file, 'utf8').trim();
  if (newest === '' || newest === secret) return status;
  secret = newest;
  return post(body);
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

/** Sends a heartbeat. @returns Whether the gateway accepted it, and what went wrong */
async function send(body: Readings): Promise<{ heard: boolean; fault?: string }> {
  try {
    const status = await postWithNewestSecret(body);
    if (isOk(status)) return { heard: true };
    const fault = `status ${status}: ${HINTS[status] ?? 'the gateway refused the heartbeat'}`;
    // If the metrics are rejected, a heartbeat without them still shows that the node is alive.
    return { heard: status === REFUSED && isOk(await post({})), fault };
  } catch (error) {
    return { heard: false, fault: reasonOf(error) };
  }
}

/** Waits, or returns early when the agent is stopped. */
const pause = (ms: number): Promise<void> =>
  delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);

let fault: string | undefined;
let isReported = false;
let leftOut = '';

/** Sends a heartbeat, and retries with growing pauses until the next one is due. */
async function beat(): Promise<void> {
  const until = performance.now() + intervalMs;
  for (let pauseMs = FIRST_RETRY_MS; !ending.signal.aborted; pauseMs *= 2) {
    const { body, unread } = await readings(serves);
    if (unread !== '' && unread !== leftOut) say(`can't read ${unread}`);
    leftOut = unread;
    const { heard, fault: now } = await send(body);
    if (ending.signal.aborted) return;
    if (now !== fault || !isReported) {
      const names = Object.keys(body).join(', ') || 'no metrics';
      say(now ?? `the gateway hears this node; reported: ${names}`);
    }
    [fault, isReported] = [now, true];
    // Random, so that nodes that lost the gateway together don't return together.
    const waitMs = pauseMs * (0.5 + Math.random());
    if (heard || once || performance.now() + waitMs >= until) break;
    await pause(waitMs);
  }
}

while (!ending.signal.aborted) {
  // A monotonic time: the clock may be set back by hours.
  const began = performance.now();
  await beat();
  if (once) process.exit(fault === undefined ? 0 : 1);
  await pause(Math.max(0, began + intervalMs - performance.now()));
}
say('stopped');
// Exits explicitly: an `nvidia-smi` that hangs in the driver would keep this process running.
process.exit(0);
