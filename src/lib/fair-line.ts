export interface FairLineBounds {
  /** Tasks that run at once. */
  atOnce: number;
  /** Tasks that wait, of all clients together and of one. */
  waiting: number;
  waitingPerClient: number;
}

/** There was no room to wait. */
export class LineFullError extends Error {
  constructor() {
    super('too many tasks are waiting');
    this.name = 'LineFullError';
  }
}

interface Waiter {
  go(): void;
  refuse(error: LineFullError): void;
}

/**
 * Runs a bounded number of tasks at once. Each client has a line of its own, and the lines take turns, so that a client
 * waits for its own tasks and for one of each other client. When there is no room left, the longest line gives up its
 * last place to a client with a shorter one.
 */
export class FairLine {
  #running = 0;
  #waiting = 0;
  /** In the order of their turns. */
  readonly #lines = new Map<string, Waiter[]>();

  constructor(private readonly bounds: FairLineBounds) {}

  /**
   * Runs a task when its client's turn comes.
   * @param most How many tasks of this client may wait.
   * @throws LineFullError
   */
  async run<T>(
    client: string,
    task: () => Promise<T>,
    most: number = this.bounds.waitingPerClient,
  ): Promise<T> {
    if (this.#running < this.bounds.atOnce) this.#running++;
    // Whoever leaves hands its place on, so that `#running` stays as it is.
    else await this.#wait(client, most);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #wait(client: string, most: number): Promise<void> {
    const line = this.#lines.get(client) ?? [];
    if (line.length >= most || !this.#makeRoom(line.length)) throw new LineFullError();
    this.#waiting++;
    this.#lines.set(client, line);
    return new Promise((go, refuse) => line.push({ go, refuse }));
  }

  /** Whether a client with `length` waiting tasks finds room for one more. */
  #makeRoom(length: number): boolean {
    if (this.#waiting < this.bounds.waiting) return true;
    let longest: Waiter[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= length + 1) return false;
    this.#waiting--;
    longest.pop()!.refuse(new LineFullError());
    return true;
  }

  #next(): void {
    for (const [client, line] of this.#lines) {
      const waiter = line.shift()!;
      // Behind all others, if there is more.
      this.#lines.delete(client);
      if (line.length > 0) this.#lines.set(client, line);
      this.#waiting--;
      waiter.go();
      return;
    }
    this.#running--;
  }
}
