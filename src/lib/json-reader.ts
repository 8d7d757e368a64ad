/**
 * A pure function that reads JSON, which the worker thread knows by its name. Input and output are plain data, with their buffers at
 * the top level.
 */
export interface JsonJob<Input extends object, Output extends object> {
  name: string;
  run(input: Input): Output;
}

/** A thread that runs jobs by their names (lib/worker-thread.ts). */
interface JobThread {
  run<Output extends object>(
    owner: string,
    name: string,
    input: object,
    signal?: AbortSignal,
  ): Promise<Output>;
  close(): Promise<void>;
}

/** Read at once in a turn of the event loop, altogether: some milliseconds, whatever it is. */
export const AT_ONCE_BYTES = 256 * 1024;
/** Texts of this size have as much again for themselves, so that they don't wait behind large ones of others. */
const SMALL_BYTES = 16 * 1024;

/** Reads JSON: small texts at once, large ones and those that come in crowds in the worker thread. */
export class JsonReader {
  /** Read in this turn of the event loop. */
  #bytes = 0;

  constructor(private readonly thread: JobThread) {}

  /**
   * Reads `body`, which must not be used afterwards. In the worker thread, the owners' texts take turns. If `signal` is aborted
   * there, the result is rejected with its reason.
   * @throws what the job throws
   */
  read<Input extends { body: Buffer }, Output extends object>(
    owner: string,
    job: JsonJob<Input, Output>,
    input: Input,
    signal?: () => AbortSignal,
  ): Output | Promise<Output> {
    const bytes = this.#bytes + input.body.length;
    const most = input.body.length > SMALL_BYTES ? AT_ONCE_BYTES : 2 * AT_ONCE_BYTES;
    if (bytes > most) return this.thread.run<Output>(owner, job.name, input, signal?.());
    if (this.#bytes === 0) setImmediate(this.#newTurn);
    this.#bytes = bytes;
    return job.run(input);
  }

  /** Ends the worker thread and fails what it has to do. */
  close(): Promise<void> {
    return this.thread.close();
  }

  readonly #newTurn = (): void => {
    this.#bytes = 0;
  };
}
