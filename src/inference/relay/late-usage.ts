import { graceTimeout } from '../../lib/grace-timeout.js';

/**
 * How long a stream is read on for its usage once its client has left. The upstream has to be cut within a second of that
 * (requirement F2).
 */
const WAIT_MS = 800;
/** After the last text follow a finish reason for each choice, the usage and `[DONE]`. */
const MAX_BYTES = 64 * 1024;

/** Waits for the usage of an answer that was complete except for its usage when the client left. Ends once. */
export class LateUsage {
  readonly #endLimit: () => void;
  #bytes = 0;
  #over = false;

  constructor(private readonly onOver: () => void) {
    this.#endLimit = graceTimeout(WAIT_MS, () => this.end());
  }

  /** Counts bytes that were read. The wait ends beyond 64 KiB. */
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
