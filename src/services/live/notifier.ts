/** Wakes one who waits. However often it is told meanwhile, it wakes once. */
export class Notifier {
  #notified = false;
  #stopped = false;
  #wake: (() => void) | undefined;

  get stopped(): boolean {
    return this.#stopped;
  }

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** Nobody is to wait any more. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /**
   * Until it is told or stopped, at most `timeoutMs`. One waits at a time.
   * @returns whether it was told.
   */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#notified && !this.#stopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const notified = this.#notified;
    this.#notified = false;
    return notified;
  }
}
