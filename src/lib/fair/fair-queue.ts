/** How much runs and waits at once, altogether and of one owner. What isn't set is unlimited. */
export interface FairQueueOptions {
  atOnce?: number;
  /** How many of one owner run at once. */
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

/** Ends a turn, or the wait for one. Later calls do nothing. */
export type Leave = () => void;

interface Waiter {
  start(): void;
  refuse(error: Error): void;
}

interface Lane {
  running: number;
  readonly waiting: Waiter[];
}

const UNLIMITED = {
  atOnce: Number.POSITIVE_INFINITY,
  perOwner: Number.POSITIVE_INFINITY,
  partOfFree: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
  waitingPerOwner: Number.POSITIVE_INFINITY,
  patienceMs: 0,
  isBehind: () => false,
};
/** Owners who are behind get one turn in so many. */
const TURNS = 4;

/** Slots that owners share. They take turns: heavy users wait behind their own work and don't delay others. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  /** Owners with something running or waiting; whose turn is next comes first. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #waiting = 0;
  /** Turns given since one who is behind had one, while such a one waited. */
  #passed = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { ...UNLIMITED, ...options };
  }

  /** How many have something running or waiting. */
  get owners(): number {
    return this.#lanes.size;
  }

  /** A turn at once; undefined if there is no room. */
  tryEnter(owner: string): Leave | undefined {
    const lane = this.#laneOf(owner);
    return this.#hasRoom(lane) ? this.#start(owner, lane) : undefined;
  }

  /**
   * Waits for a turn, behind at most `most` others of the same owner.
   * @throws QueueFullError, QueueTimeoutError
   */
  enter(owner: string, most?: number): Promise<Leave> {
    return new Promise((go, refuse) => this.join(owner, go, refuse, most));
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

  /** The same as `enter`, by callbacks: `go` is called at once if there is room, and never after the returned `Leave`. */
  join(
    owner: string,
    go: (leave: Leave) => void,
    refuse: (error: Error) => void,
    most = this.#options.waitingPerOwner,
  ): Leave {
    const lane = this.#laneOf(owner);
    if (this.#hasRoom(lane)) {
      const leave = this.#start(owner, lane);
      go(leave);
      return leave;
    }
    if (lane.waiting.length < most && this.#makeRoom(lane.waiting.length)) {
      return this.#wait(owner, lane, go, refuse);
    }
    refuse(new QueueFullError());
    return () => undefined;
  }

  #laneOf(owner: string): Lane {
    return this.#lanes.get(owner) ?? { running: 0, waiting: [] };
  }

  #hasRoom(lane: Lane): boolean {
    const { atOnce, perOwner, partOfFree } = this.#options;
    const free = atOnce - this.#running;
    return free > 0 && lane.running < perOwner && lane.running < free * partOfFree;
  }

  #start(owner: string, lane: Lane): Leave {
    this.#running++;
    lane.running++;
    // Behind everybody else until its next turn.
    this.#lanes.delete(owner);
    this.#lanes.set(owner, lane);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running--;
      lane.running--;
      this.#forgetIdle(owner, lane);
      this.#giveTurns();
    };
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

  #wait(owner: string, lane: Lane, go: (leave: Leave) => void, refuse: (error: Error) => void): Leave {
    const { patienceMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    let leave: Leave = () => {
      clearTimeout(timer);
      this.#waiting--;
      lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
      this.#forgetIdle(owner, lane);
      leave = () => undefined;
    };
    const waiter: Waiter = {
      start: () => {
        leave();
        leave = this.#start(owner, lane);
        go(leave);
      },
      refuse: (error) => {
        leave();
        refuse(error);
      },
    };
    this.#lanes.set(owner, lane);
    lane.waiting.push(waiter);
    this.#waiting++;
    if (patienceMs > 0) timer = setTimeout(() => waiter.refuse(new QueueTimeoutError()), patienceMs);
    return () => leave();
  }

  #forgetIdle(owner: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(owner);
  }

  #giveTurns(): void {
    while (this.#waiting > 0) {
      const lane = this.#next();
      if (!lane) return;
      lane.waiting[0]!.start();
    }
  }

  /** Whose turn it is, of those who wait and have room. */
  #next(): Lane | undefined {
    let first: Lane | undefined;
    let behind: Lane | undefined;
    for (const [owner, lane] of this.#lanes) {
      if (lane.waiting.length === 0 || !this.#hasRoom(lane)) continue;
      if (this.#options.isBehind(owner)) behind ??= lane;
      else first ??= lane;
      if (first !== undefined && behind !== undefined) break;
    }
    if (behind === undefined) return first;
    if (first !== undefined && ++this.#passed < TURNS) return first;
    this.#passed = 0;
    return behind;
  }
}
