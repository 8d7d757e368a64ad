/** Wakes one who waits. However often it rings meanwhile, it wakes once. */
export class Bell {
  #rung = false;
  #stopped = false;
  #wake: (() => void) | undefined;

  get stopped(): boolean {
    return this.#stopped;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Nobody is to wait any more. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /**
   * Until it rings or is stopped, at most `timeoutMs`. One waits at a time.
   * @returns whether it rang.
   */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#rung && !this.#stopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const rang = this.#rung;
    this.#rung = false;
    return rang;
  }
}
