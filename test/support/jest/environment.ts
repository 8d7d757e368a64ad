import { ModernFakeTimers } from '@jest/fake-timers';
import { reportFailure } from './on-failure.js';
import { oneDayAhead } from './one-day.js';
import { stretchLimits } from './patience.js';
import { Stopwatch } from './times.js';

interface EnvironmentConfig {
  projectConfig: ConstructorParameters<typeof ModernFakeTimers>[0]['config'];
}

/** What test files use of the `jest` object. */
export interface NativeJest {
  useFakeTimers(options?: Parameters<ModernFakeTimers['useFakeTimers']>[0]): void;
  useRealTimers(): void;
  advanceTimersByTime(ms: number): void;
  advanceTimersByTimeAsync(ms: number): Promise<void>;
  /** Time limit of the tests of this file from here on. */
  setTimeout(ms: number): void;
}

/** As many as Node has: a failing expectation lies a few frames below the test. */
const STACK_FRAMES = 10;

/** Where jest-circus reads the limit that a file sets. */
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/**
 * A Jest environment whose globals are those of the worker: test files run as Node runs any module, beside what they
 * test. It belongs to the runtime of this folder.
 */
export class NativeEnvironment {
  readonly global = globalThis;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #console = globalThis.console;
  readonly #exit = process.exit;
  readonly #stopwatch: Stopwatch;

  constructor({ projectConfig }: EnvironmentConfig, { testPath }: { testPath: string }) {
    this.#stopwatch = new Stopwatch(testPath);
    const timers = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.fakeTimersModern = timers;
    const native: NativeJest = {
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      setTimeout: (ms) => Reflect.set(globalThis, TEST_TIMEOUT, ms),
    };
    Reflect.set(globalThis, 'jest', native);
  }

  /** Jest asks for a hundred frames of every error: what refuses thousands of calls would mostly write stacks. */
  async setup(): Promise<void> {
    Error.stackTraceLimit = STACK_FRAMES;
    await oneDayAhead();
  }

  async handleTestEvent(
    { name }: { name: string },
    state: Parameters<typeof stretchLimits>[0],
  ): Promise<void> {
    if (name === 'run_start') stretchLimits(state);
    if (name === 'test_fn_failure') await reportFailure();
  }

  /** Jest wraps console and process.exit for each file: the next file starts from Node's own. */
  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    Reflect.deleteProperty(globalThis, TEST_TIMEOUT);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    this.#stopwatch.stop();
  }

  /** Jest asks for it to be there; nothing runs in a context of its own. */
  getVmContext(): null {
    return null;
  }
}

// Jest loads environment and runtime by `require`.
export { NativeEnvironment as 'module.exports' };
