/** How much runs at once, altogether and of one owner. */
export interface FairQueueOptions {
  atOnce: number;
  perOwner: number;
  /** How many of one owner may wait; more are refused with `OwnerQueueFullError`. */
  waitingPerOwner?: number;
  /** How long one may wait, in milliseconds; then it is refused with `QueueTimeoutError`. */
  patienceMs?: number;
}

/** One owner has too much waiting already. */
export class OwnerQueueFullError extends Error {
  override name = 'OwnerQueueFullError';
}

/** A turn didn't come in time. */
export class QueueTimeoutError extends Error {
  override name = 'QueueTimeoutError';
}

interface Lane {
  running: number;
  waiting: (() => void)[];
}

/** Owners take turns: whoever asks for much waits behind their own work, and others don't. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  /** Owners with something running or waiting; whose turn is next comes first. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { waitingPerOwner: Number.POSITIVE_INFINITY, patienceMs: 0, ...options };
  }

  /** How many have something running or waiting. */
  get owners(): number {
    return this.#lanes.size;
  }

  /**
   * Waits for a turn.
   * @returns the way to end it; more than one call is one.
   * @throws OwnerQueueFullError, QueueTimeoutError
   */
  async enter(owner: string): Promise<() => void> {
    const lane = this.#lanes.get(owner) ?? { running: 0, waiting: [] };
    this.#lanes.set(owner, lane);
    if (this.#hasRoom(lane)) this.#start(owner, lane);
    else if (lane.waiting.length >= this.#options.waitingPerOwner) throw new OwnerQueueFullError();
    else await this.#wait(owner, lane);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(owner, lane);
    };
  }

  /** Runs a task in its owner's turn. */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    const leave = await this.enter(owner);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  #hasRoom(lane: Lane): boolean {
    const { atOnce, perOwner } = this.#options;
    return this.#running < atOnce && lane.running < perOwner;
  }

  #start(owner: string, lane: Lane): void {
    this.#running++;
    lane.running++;
    // Behind everybody else until its next turn.
    this.#lanes.delete(owner);
    this.#lanes.set(owner, lane);
  }

  #wait(owner: string, lane: Lane): Promise<void> {
    const { patienceMs } = this.#options;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      lane.waiting.push(go);
      if (patienceMs === 0) return;
      timer = setTimeout(() => {
        lane.waiting.splice(lane.waiting.indexOf(go), 1);
        this.#forgetIdle(owner, lane);
        reject(new QueueTimeoutError());
      }, patienceMs);
    });
  }

  #forgetIdle(owner: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(owner);
  }

  #leave(owner: string, lane: Lane): void {
    this.#running--;
    lane.running--;
    this.#forgetIdle(owner, lane);
    for (const [next, waiting] of this.#lanes) {
      if (waiting.waiting.length === 0 || !this.#hasRoom(waiting)) continue;
      this.#start(next, waiting);
      waiting.waiting.shift()!();
      return;
    }
  }
}
