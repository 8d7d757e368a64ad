import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.js';
import { FairQueue } from './fair/fair-queue.js';
import type { Logger } from './logger.js';
import { packMessage, unpackMessage, type WorkerAnswer } from './worker-message.js';

interface Task {
  name: string;
  /** Undefined once it was sent to the thread, or the job was aborted. */
  input: object | undefined;
  resolve(output: never): void;
  reject(error: Error): void;
}

/** In dist/bundle and build/src alike, one folder below the root. */
const ENTRY = new URL('../worker/main.js', import.meta.url);
/** Limit for objects; buffers don't count. */
const MOST_MEMORY_MB = 512;

/**
 * The process's worker thread for long synchronous work (src/worker/main.ts). It starts with the first job and runs one job at a time;
 * owners take turns. If it dies, the current job fails, and the next one starts it again.
 */
export class WorkerThread {
  readonly #queue = new FairQueue({ atOnce: 1 });
  #worker: Worker | undefined;
  #running: { task: Task; over: () => void } | undefined;
  #closed = false;

  constructor(
    private readonly log: Pick<Logger, 'error'>,
    private readonly memoryMb = MOST_MEMORY_MB,
  ) {}

  /**
   * Runs the job `name`. Buffers of `input` may be transferred, and are empty afterwards. An aborted `signal` rejects with its reason,
   * and frees the input of a waiting job.
   * @throws AppError that the job throws; `internal_error` or `service_unavailable` if the worker dies
   */
  run<Output extends object>(
    owner: string,
    name: string,
    input: object,
    signal?: AbortSignal,
  ): Promise<Output> {
    return new Promise((resolve, reject) => {
      const task: Task = { name, input, resolve, reject };
      signal?.addEventListener('abort', () => {
        task.input = undefined;
        reject(signal.reason as Error);
      });
      this.#queue.run(owner, () => this.#start(task)).catch(reject);
    });
  }

  /** Ends the thread and rejects its pending jobs. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  async #start(task: Task): Promise<void> {
    const { name, input } = task;
    if (!input) return;
    task.input = undefined;
    if (this.#closed) {
      task.reject(unavailable('The service is restarting. Try again.'));
      return;
    }
    const { message, transfer } = packMessage(input);
    try {
      await new Promise<void>((over) => {
        this.#running = { task, over };
        this.#thread().postMessage({ name, input: message }, transfer);
      });
    } finally {
      this.#running = undefined;
    }
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(ENTRY, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.memoryMb },
    });
    let fault: Error | undefined;
    worker.on('message', (answer: WorkerAnswer) => this.#answered(answer));
    worker.on('error', (error: Error) => {
      fault = error;
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#died(fault);
    });
    // The thread must not keep the process alive. Adding a listener would undo `unref`, so it comes last.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #answered(answer: WorkerAnswer): void {
    if ('result' in answer) this.#end(({ resolve }) => resolve(unpackMessage(answer.result) as never));
    else if ('refused' in answer) {
      const { code, options } = answer.refused;
      this.#end(({ reject }) => reject(new AppError(code as 'internal_error', options)));
    } else this.#end(({ reject }) => reject(new Error(answer.failed)));
  }

  #died(fault: Error | undefined): void {
    if (!this.#closed)
      this.log.error({ err: fault }, 'the worker thread ended; the next job starts it again');
    const isOutOfMemory = (fault as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const error = isOutOfMemory
      ? unavailable('This takes more memory to read than there is. Try again with less.')
      : this.#closed
        ? unavailable('The service is restarting. Try again.')
        : new AppError('internal_error');
    this.#end(({ reject }) => reject(error));
  }

  #end(settle: (task: Task) => void): void {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    settle(running.task);
    running.over();
  }
}

const unavailable = (message: string): AppError =>
  new AppError('service_unavailable', { message, retryAfterSeconds: 1 });
