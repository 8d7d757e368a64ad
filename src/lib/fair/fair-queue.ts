/** Limits on running and waiting tasks, in total and per owner. Unset limits don't apply. */
export interface FairQueueOptions {
  /** How many run at once. */
  atOnce?: number;
  /** How many of one owner run at once. */
  perOwner?: number;
  /** An owner gets one more slot only while it runs fewer than this part of the free slots, so that room for others remains. */
  partOfFree?: number;
  /** How many may wait in total. Beyond it, the owner with the most waiting loses its last one to an owner with fewer. */
  waiting?: number;
  /** How many of one owner may wait. */
  waitingPerOwner?: number;
  /** How long a task may wait, in milliseconds; then it fails with `QueueTimeoutError`. */
  patienceMs?: number;
  /** Whether an owner gets only one turn in four while others wait. Called for each turn. */
  isBehind?: (owner: string) => boolean;
}

/** Too many tasks are waiting. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
  override message = 'too many are waiting';
}

/** The task waited for too long. */
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
/** Owners for whom `isBehind` is true get one turn in this many. */
const TURNS = 4;

/** Slots that owners share in turns: heavy users wait for their own tasks and don't delay others. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  /** Owners with running or waiting tasks; the owner with the next turn comes first. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #waiting = 0;
  /** Turns of other owners since the last turn of an owner that is behind, while one waits. */
  #passed = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { ...UNLIMITED, ...options };
  }

  /** Number of owners with running or waiting tasks. */
  get owners(): number {
    return this.#lanes.size;
  }

  /** Takes a slot at once; undefined if none is free. */
  tryEnter(owner: string): Leave | undefined {
    const lane = this.#laneOf(owner);
    return this.#hasRoom(lane) ? this.#start(owner, lane) : undefined;
  }

  /**
   * Waits for a slot, with at most `most` tasks of the same owner in front.
   * @throws QueueFullError, QueueTimeoutError
   */
  enter(owner: string, most?: number): Promise<Leave> {
    return new Promise((go, refuse) => this.join(owner, go, refuse, most));
  }

  /** Runs a task in a slot of its owner. @throws QueueFullError, QueueTimeoutError, and what the task throws */
  async run<T>(owner: string, task: () => Promise<T>, most?: number): Promise<T> {
    const leave = await this.enter(owner, most);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /** The same as `enter` with callbacks. Calls `go` synchronously if a slot is free, and never after the returned `Leave`. */
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
    // Moves the owner to the end of the order.
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

  /** Makes room for one more waiting task of an owner with `length` of them. Returns false if there isn't any. */
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

  /** The owner with the next turn, among those with a waiting task and a free slot. */
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
