import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { inDist } from './dist.js';
import { until } from './until.js';

/** A process of the product, started alone like an operator does. */
export interface ProductProcess {
  readonly name: 'gateway' | 'platform' | 'jobs' | 'proxy';
  pid(): number;
  running(): boolean;
  /** Resolves once the process reports that it serves, to the milliseconds that this took. */
  start(): Promise<number>;
  /** Sends the signal and waits for the end. Returns the exit code and the milliseconds that this took. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; tookMs: number }>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  resume(): void;
  /** Resident memory in bytes. */
  memory(): number;
  /** Referenced memory after a garbage collection, in bytes. */
  held(): Promise<number>;
  /** The latest part of its output. */
  output(): string;
  /** Lets the driver end while the process runs, which ends by itself when its channel closes. */
  leaveBehind(): void;
}

const HELD = new URL('held.js', import.meta.url).href;
const KEPT_OUTPUT = 64 * 1024;

/** Prepares a process with the given environment. `start` starts it, also again after an end. */
export function productProcess(
  name: ProductProcess['name'],
  env: NodeJS.ProcessEnv,
  keptOutputBytes = KEPT_OUTPUT,
): ProductProcess {
  let child: ChildProcess | undefined;
  let output = '';
  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    name,
    pid: () => child!.pid!,
    running,
    async start() {
      const began = performance.now();
      let ready = false;
      const started = fork(inDist(`${name}/main.js`), {
        silent: true,
        execArgv: ['--import', HELD],
        env,
      });
      child = started;
      for (const stream of [started.stdout!, started.stderr!])
        stream.on('data', (bytes) => {
          output = (output + bytes).slice(-keptOutputBytes);
        });
      started.on('message', (message) => {
        if ((message as { type?: unknown }).type === 'ready') ready = true;
      });
      await until(() => ready || !running(), {
        timeoutMs: 70_000,
        intervalMs: 5,
        what: `${name} to be ready`,
      });
      if (!ready) throw new Error(`${name} did not start:\n${output}`);
      return performance.now() - began;
    },
    async end(signal) {
      const began = performance.now();
      const current = child!;
      if (running()) {
        const gone = once(current, 'exit');
        // The driver would not wait for the end of a process that was left behind.
        current.ref();
        current.kill(signal);
        await gone;
      }
      return { code: current.exitCode, tookMs: performance.now() - began };
    },
    freeze: () => void child!.kill('SIGSTOP'),
    resume: () => void child!.kill('SIGCONT'),
    memory() {
      const status = readFileSync(`/proc/${child!.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
    },
    async held() {
      const reported = new Promise<number>((resolve) => {
        const listen = (message: unknown): void => {
          const { type, bytes } = message as { type?: unknown; bytes: number };
          if (type !== 'held') return;
          child!.off('message', listen);
          resolve(bytes);
        };
        child!.on('message', listen);
      });
      child!.kill('SIGUSR2');
      return reported;
    },
    output: () => output,
    leaveBehind() {
      child!.unref();
      child!.channel?.unref();
      for (const stream of [child!.stdout, child!.stderr]) (stream as Socket).unref();
    },
  };
}
