import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { statFields } from '../../../src/lib/process-stat.js';

/** Where one test file spent its time, in milliseconds, except `processes`. */
export interface FileTimes {
  path: string;
  wall: number;
  /** Loading modules that this worker hadn't loaded yet. */
  modules: number;
  /** Child processes started. */
  processes: number;
  /** Processor time of ended children, including their own children. */
  children: number;
  /** Hashing passwords in this process. */
  argon2: number;
  /** Processor time of this process, modules and hashing included. */
  own: number;
}

/** `npm run test:times` names the file that each test file adds a line to. */
const TIMES = process.env.TEST_TIMES;
const CLOCK_TICK_MS = 10;
/** Fields of /proc/self/stat after the name: user and system time of children that were waited for. */
const CUTIME = 13;
const CSTIME = 14;

const counts = { processes: 0, argon2: 0 };

function childrenMs(): number {
  const fields = statFields(process.pid);
  return (Number(fields?.[CUTIME]) + Number(fields?.[CSTIME])) * CLOCK_TICK_MS;
}

/** Wraps the counted functions, before any test or product module is loaded. */
function watch(): void {
  const prototype = ChildProcess.prototype as unknown as { spawn(...args: unknown[]): unknown };
  const { spawn } = prototype;
  prototype.spawn = function (...args) {
    counts.processes++;
    return spawn.apply(this, args);
  };
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as Record<string, unknown>;
  for (const name of ['hash', 'verify']) {
    const original = argon2[name] as (...args: unknown[]) => Promise<unknown>;
    argon2[name] = async (...args: unknown[]) => {
      const began = performance.now();
      try {
        return await original(...args);
      } finally {
        counts.argon2 += performance.now() - began;
      }
    };
  }
}
if (TIMES) watch();

/** Measures one test file, if requested. */
export class Stopwatch {
  readonly #path: string;
  readonly #began = performance.now();
  readonly #cpu = process.cpuUsage();
  readonly #children = TIMES ? childrenMs() : 0;
  readonly #counts = { ...counts };
  static #modules = 0;

  constructor(path: string) {
    this.#path = path;
    Stopwatch.#modules = 0;
  }

  /** Loads the test file with all of its imports. */
  static async loading(load: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    await load();
    Stopwatch.#modules = performance.now() - began;
  }

  stop(): void {
    if (!TIMES) return;
    const { user, system } = process.cpuUsage(this.#cpu);
    const times: FileTimes = {
      path: this.#path,
      wall: performance.now() - this.#began,
      modules: Stopwatch.#modules,
      processes: counts.processes - this.#counts.processes,
      children: childrenMs() - this.#children,
      argon2: counts.argon2 - this.#counts.argon2,
      own: (user + system) / 1_000,
    };
    appendFileSync(TIMES, `${JSON.stringify(times)}\n`);
  }
}
