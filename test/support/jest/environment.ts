import { ModernFakeTimers } from '@jest/fake-timers';
import { reportFailure } from './on-failure.js';
import { oneDayAhead } from './one-day.js';
import { stretchLimits } from './patience.js';
import { Stopwatch } from './times.js';

interface EnvironmentConfig {
  projectConfig: ConstructorParameters<typeof ModernFakeTimers>[0]['config'];
}

/** The part of the `jest` object that test files use. */
export interface NativeJest {
  useFakeTimers(options?: Parameters<ModernFakeTimers['useFakeTimers']>[0]): void;
  useRealTimers(): void;
  advanceTimersByTime(ms: number): void;
  advanceTimersByTimeAsync(ms: number): Promise<void>;
  /** Sets the time limit of this file's further tests. */
  setTimeout(ms: number): void;
}

/** Node's default: a failing expectation is a few frames below the test. */
const STACK_FRAMES = 10;

/** The symbol under which jest-circus reads a file's time limit. */
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/**
 * A Jest environment with the globals of the worker: test files run like any module of Node, together with what they
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

  /** Jest sets a hundred frames per error, and code that refuses thousands of calls would mostly write stacks. */
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

  /** Jest wraps console and process.exit for each file. The next file starts from Node's originals. */
  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    Reflect.deleteProperty(globalThis, TEST_TIMEOUT);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    this.#stopwatch.stop();
  }

  /** Required by Jest; nothing runs in a separate context. */
  getVmContext(): null {
    return null;
  }
}

// Jest loads environment and runtime by `require`.
export { NativeEnvironment as 'module.exports' };
