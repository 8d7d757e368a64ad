/**
 * A pure function that reads JSON and that the worker thread finds by its name. Input and output are plain data with buffers only at
 * the top level.
 */
export interface JsonJob<Input extends object, Output extends object> {
  name: string;
  run(input: Input): Output;
}

/** A thread that runs jobs by name (lib/worker-thread.ts). */
interface JobThread {
  run<Output extends object>(
    owner: string,
    name: string,
    input: object,
    signal?: AbortSignal,
  ): Promise<Output>;
  close(): Promise<void>;
}

/** Bytes read per turn of the event loop: a few milliseconds, whatever the content. */
export const AT_ONCE_BYTES = 256 * 1024;
/** Texts up to this size may use as much again, so that they don't wait for large texts of others. */
const SMALL_BYTES = 16 * 1024;

/** Reads JSON: small texts at once, large ones and bursts in the worker thread. */
export class JsonReader {
  /** Bytes read in this turn of the event loop. */
  #bytes = 0;

  constructor(private readonly thread: JobThread) {}

  /**
   * Reads `body`, which must not be used afterwards. In the worker thread, owners take turns, and an aborted `signal` rejects the result
   * with its reason.
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

  /** Ends the worker thread and rejects its pending jobs. */
  close(): Promise<void> {
    return this.thread.close();
  }

  readonly #newTurn = (): void => {
    this.#bytes = 0;
  };
}
