import { write, writeSync } from 'node:fs';

/** Most characters waiting to be written. Lines beyond it are lost. */
const MOST_WAITING = 1024 * 1024;
/** Pause before a busy destination is tried again. */
const RETRY_MS = 100;
/** Tries when the process exits. */
const LAST_TRIES = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Where a process writes its log. Lines that can't be written, for example to a full volume or a closed terminal, are lost, and the
 * next lines are tried: a process must not end because of its log, nor wait for it. (Pino's own destination throws instead, and
 * retries forever when the process exits.)
 */
export class LogOutput {
  /** Lines not yet written. */
  #waiting = '';
  /** Bytes for which the destination was too busy. */
  #refused: Buffer = NOTHING;
  #writing = false;

  /** @param fd A file descriptor; 1 is stdout. */
  constructor(private readonly fd: number) {}

  write(line: string): void {
    if (this.#waiting.length + line.length > MOST_WAITING) return;
    this.#waiting += line;
    if (!this.#writing) this.#next();
  }

  /** Writes the waiting lines when the process exits. A write in progress is already with the system. */
  flushSync(): void {
    let left = Buffer.concat([this.#refused, Buffer.from(this.#waiting)]);
    this.#refused = NOTHING;
    this.#waiting = '';
    for (let tries = 0; left.length > 0 && tries < LAST_TRIES; ) {
      try {
        left = left.subarray(writeSync(this.fd, left));
      } catch (error) {
        if (!isBusy(error)) return;
        tries++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  #next(): void {
    this.#writing = this.#waiting !== '';
    if (!this.#writing) return;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#send(bytes);
  }

  #send(bytes: Buffer): void {
    write(this.fd, bytes, (error, written) => {
      if (isBusy(error)) this.#retry(bytes);
      else if (error || written === bytes.length) this.#next();
      else this.#send(bytes.subarray(written));
    });
  }

  #retry(bytes: Buffer): void {
    this.#refused = bytes;
    setTimeout(() => {
      const refused = this.#refused;
      this.#refused = NOTHING;
      if (refused.length > 0) this.#send(refused);
      else this.#next();
    }, RETRY_MS).unref();
  }
}

const isBusy = (error: unknown): boolean => {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'EAGAIN' || code === 'EBUSY';
};
