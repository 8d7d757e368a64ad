/** How much runs and waits at once, altogether and of one owner. */
export interface FairQueueOptions {
  atOnce: number;
  /** How many of one owner run at once; without it, as many as altogether. */
  perOwner?: number;
  /** An owner gets one more only while it has fewer than this part of the free places, so that many owners leave room for others. */
  partOfFree?: number;
  /** How many may wait, of all owners; beyond it the longest line gives up its last place to an owner with a shorter one. */
  waiting?: number;
  /** How many of one owner may wait. */
  waitingPerOwner?: number;
  /** How long one may wait, in milliseconds; then it is refused with `QueueTimeoutError`. */
  patienceMs?: number;
  /** Owners who get one turn in four while others wait. Asked whenever a turn is given. */
  isBehind?: (owner: string) => boolean;
}

/** There is no room to wait. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
  override message = 'too many are waiting';
}

/** A turn didn't come in time. */
export class QueueTimeoutError extends Error {
  override name = 'QueueTimeoutError';
}

interface Waiter {
  go(): void;
  refuse(error: Error): void;
}

interface Lane {
  running: number;
  waiting: Waiter[];
}

const UNBOUNDED = {
  perOwner: Number.POSITIVE_INFINITY,
  partOfFree: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
  waitingPerOwner: Number.POSITIVE_INFINITY,
  patienceMs: 0,
  isBehind: () => false,
};
/** Of so many turns those who are behind get one. */
const TURNS = 4;

/** Owners take turns: heavy users wait behind their own work and don't delay others. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  /** Owners with something running or waiting; whose turn is next comes first. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #waiting = 0;
  /** Turns given since one who is behind had one, while such a one waited. */
  #passed = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { ...UNBOUNDED, ...options };
  }

  /** How many have something running or waiting. */
  get owners(): number {
    return this.#lanes.size;
  }

  /**
   * Waits for a turn, behind at most `most` others of the same owner.
   * @returns the way to end it; more than one call is one.
   * @throws QueueFullError, QueueTimeoutError
   */
  async enter(owner: string, most = this.#options.waitingPerOwner): Promise<() => void> {
    const lane = this.#lanes.get(owner) ?? { running: 0, waiting: [] };
    if (this.#hasRoom(lane)) this.#start(owner, lane);
    else if (lane.waiting.length >= most || !this.#makeRoom(lane.waiting.length)) throw new QueueFullError();
    else await this.#wait(owner, lane);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(owner, lane);
    };
  }

  /** Runs a task in its owner's turn. @throws QueueFullError, QueueTimeoutError, and what the task throws */
  async run<T>(owner: string, task: () => Promise<T>, most?: number): Promise<T> {
    const leave = await this.enter(owner, most);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  #hasRoom(lane: Lane): boolean {
    const { atOnce, perOwner, partOfFree } = this.#options;
    const free = atOnce - this.#running;
    return free > 0 && lane.running < perOwner && lane.running < free * partOfFree;
  }

  #start(owner: string, lane: Lane): void {
    this.#running++;
    lane.running++;
    // Behind everybody else until its next turn.
    this.#lanes.delete(owner);
    this.#lanes.set(owner, lane);
  }

  /** Whether an owner with `length` in waiting finds room for one more. */
  #makeRoom(length: number): boolean {
    if (this.#waiting < this.#options.waiting) return true;
    let longest: Waiter[] = [];
    for (const { waiting } of this.#lanes.values()) if (waiting.length > longest.length) longest = waiting;
    if (longest.length <= length + 1) return false;
    longest.at(-1)!.refuse(new QueueFullError());
    return true;
  }

  #wait(owner: string, lane: Lane): Promise<void> {
    const { patienceMs } = this.#options;
    this.#lanes.set(owner, lane);
    this.#waiting++;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiter: Waiter = {
        go: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          this.#waiting--;
          lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
          this.#forgetIdle(owner, lane);
          reject(error);
        },
      };
      lane.waiting.push(waiter);
      if (patienceMs > 0) timer = setTimeout(() => waiter.refuse(new QueueTimeoutError()), patienceMs);
    });
  }

  #forgetIdle(owner: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(owner);
  }

  #leave(owner: string, lane: Lane): void {
    this.#running--;
    lane.running--;
    this.#forgetIdle(owner, lane);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const waiting = this.#lanes.get(next)!;
      this.#start(next, waiting);
      this.#waiting--;
      waiting.waiting.shift()!.go();
    }
  }

  /** Whose turn it is, of those who wait and have room. */
  #next(): string | undefined {
    let first: string | undefined;
    let behind: string | undefined;
    for (const [owner, lane] of this.#lanes) {
      if (lane.waiting.length === 0 || !this.#hasRoom(lane)) continue;
      if (this.#options.isBehind(owner)) behind ??= owner;
      else first ??= owner;
      if (first !== undefined && behind !== undefined) break;
    }
    if (behind === undefined) return first;
    if (first !== undefined && ++this.#passed < TURNS) return first;
    this.#passed = 0;
    return behind;
  }
}
