/** Wakes a waiting reader. Several notifications before it runs wake it once. */
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

  /** Ends the current wait and all later ones. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /**
   * Waits until notified or stopped, for at most `timeoutMs`. Only one caller may wait at a time.
   * @returns whether it was notified.
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
