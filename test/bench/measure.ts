import { setTimeout as delay } from 'node:timers/promises';
import { CHUNKS, type Job, type Result } from './jobs.js';
import { cpuMicros, rssKilobytes } from './machine.js';
import { type Child, startOwn } from './processes.js';
import type { RunningTarget } from './targets.js';

/** Figures of one target by name, one value per round. */
export type Figures = Map<string, number[]>;

export interface Lengths {
  rounds: number;
  /** Just-in-time compilation must be over before anything counts. */
  warmMs: number;
  saturateMs: number;
  pacedMs: number;
  firstBytesMs: number;
  streams: number;
  idleStreams: number;
}

const CONNECTIONS = 64;
const WARM_CONNECTIONS = 32;
const WARM_STREAMS = 200;
/** Usage is written a moment after the response; its CPU counts for the target. */
const AFTERMATH_MS = 150;

export interface Generator {
  run(job: Job): Promise<Result>;
  stop(): Promise<void>;
}

export function startGenerator(): Generator {
  const child: Child = startOwn('load', []);
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const failed = (): void => reject(new Error(`the load generator ended during "${job.kind}"`));
        child.process.once('exit', failed);
        child.process.once('message', (result) => {
          child.process.off('exit', failed);
          resolve(result as Result);
        });
        child.process.send(job);
      }),
    stop: () => child.stop(),
  };
}

/** All requests to one target, to compare with its usage rows. */
export interface Sent {
  answers: number;
  bad: number;
  /** `x-request-id` of every response with status 200. */
  ids: string[];
  /** Some of the other responses. */
  failures: string[];
  /** Streams that the generator cut in the middle, which are charged by estimate. */
  cut: number;
}

/** One target under measurement. */
export class Measured {
  readonly figures: Figures = new Map();
  readonly sent: Sent = { answers: 0, bad: 0, ids: [], failures: [], cut: 0 };

  constructor(
    readonly running: RunningTarget,
    private readonly generator: Generator,
  ) {}

  async warm(ms: number): Promise<void> {
    const { target } = this.running;
    await this.#run({ kind: 'saturate', target, connections: WARM_CONNECTIONS, ms });
    await this.#run({ kind: 'streams', target, count: 50, chunks: CHUNKS });
  }

  async saturate(ms: number, figure = 'cpuPerRequest'): Promise<void> {
    const { target } = this.running;
    const { result, cpu } = await this.#run({ kind: 'saturate', target, connections: CONNECTIONS, ms });
    this.#add(figure, cpu / result.answers);
    this.#add(`${figure}Rps`, (result.answers / result.ms) * 1000);
  }

  async paced(ms: number): Promise<void> {
    const { target } = this.running;
    const { result } = await this.#run({ kind: 'paced', target, perSecond: 200, ms });
    this.#add('p50', quantile(result.latencies, 0.5));
    this.#add('p99', quantile(result.latencies, 0.99));
  }

  async streams(count: number): Promise<void> {
    const { target } = this.running;
    const { cpu } = await this.#run({ kind: 'streams', target, count, chunks: CHUNKS });
    this.#add('cpuPerChunk', cpu / (count * CHUNKS));
  }

  async firstBytes(ms: number): Promise<void> {
    const { target } = this.running;
    const { result } = await this.#run({ kind: 'first-bytes', target, perSecond: 50, ms });
    this.#add('ttfb', quantile(result.latencies, 0.5));
  }

  /**
   * Memory per open stream, in a process that has done little else, because a larger heap would hide them. What a
   * heap needs once, for its first streams, doesn't count.
   */
  async memory(count: number): Promise<void> {
    await this.#run({ kind: 'streams', target: this.running.target, count: 20, chunks: CHUNKS });
    await this.#hold(WARM_STREAMS);
    await this.#release(WARM_STREAMS);
    const before = rssKilobytes(this.running.pids);
    await this.#hold(count);
    this.#add('kbPerStream', (rssKilobytes(this.running.pids) - before) / count);
    await this.#release(count);
  }

  /** The cost of a request while streams are open. */
  async besideIdle(count: number, saturateMs: number): Promise<void> {
    await this.#hold(count);
    await this.saturate(saturateMs, 'cpuBesideIdle');
    await this.#release(count);
  }

  async #hold(count: number): Promise<void> {
    await this.#run({ kind: 'hold', target: this.running.target, count });
    await delay(500);
  }

  async #release(count: number): Promise<void> {
    await this.generator.run({ kind: 'release' });
    this.sent.cut += count;
    await delay(500);
  }

  async #run(job: Job): Promise<{ result: Result; cpu: number }> {
    const before = cpuMicros(this.running.pids);
    const result = await this.generator.run(job);
    await delay(AFTERMATH_MS);
    this.took(result);
    return { result, cpu: cpuMicros(this.running.pids) - before };
  }

  /** Records responses, also those of measurements elsewhere. */
  took({ answers, bad, ids, failures }: Pick<Result, 'answers' | 'bad' | 'ids' | 'failures'>): void {
    this.sent.answers += answers;
    this.sent.bad += bad;
    for (const id of ids) this.sent.ids.push(id);
    this.sent.failures.push(...failures);
  }

  #add(name: string, value: number): void {
    const values = this.figures.get(name);
    if (values) values.push(value);
    else this.figures.set(name, [value]);
  }
}

export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: number[] | undefined): number => {
  if (!values || values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};
