import { graceTimeout } from '../../lib/grace-timeout.js';

/**
 * How long a stream is read on for its usage once its client has left. The upstream has to be cut within a second of that
 * (requirement F2).
 */
const WAIT_MS = 800;
/** Behind the last text come a finish reason for each choice, the usage and `[DONE]`. */
const MAX_BYTES = 64 * 1024;

/** The wait for the usage of an answer that was whole but for its count when the client left. It ends once. */
export class LateUsage {
  readonly #endLimit: () => void;
  #bytes = 0;
  #over = false;

  constructor(private readonly onOver: () => void) {
    this.#endLimit = graceTimeout(WAIT_MS, () => this.end());
  }

  /** Counts what has been read; beyond the bound the wait is over. */
  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) this.end();
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#endLimit();
    this.onOver();
  }
}
