import { FairQueue, type Leave } from '../../lib/fair/fair-queue.js';
import type { ResourceLimits } from '../resource-limits.js';

type Bounds = Pick<ResourceLimits, 'passedPerClient' | 'passedAtOncePerClient' | 'platformConnections'>;

/**
 * Shares the connections to the platform fairly among clients. A limited number of each client's requests run at once,
 * and never more than half of the free connections, so the next client always finds one. Some more requests wait in the
 * client's queue, and the rest are refused. Waiting clients take turns.
 */
export class PlatformQueue {
  readonly #inProgress: FairQueue;
  readonly #connections: FairQueue;

  constructor({ passedPerClient, passedAtOncePerClient, platformConnections }: Bounds) {
    this.#inProgress = new FairQueue({ perOwner: passedPerClient });
    this.#connections = new FairQueue({
      atOnce: platformConnections,
      perOwner: passedAtOncePerClient,
      partOfFree: 1 / 2,
    });
  }

  /** Admits a request. Returns undefined when its client has too many in progress. */
  enter(client: string): Ticket | undefined {
    const leave = this.#inProgress.tryEnter(client);
    return leave && new Ticket(client, this.#connections, leave);
  }
}

/** One admitted request. */
export class Ticket {
  #left = false;
  #stopWaiting: Leave | undefined;
  #free: Leave | undefined;

  constructor(
    private readonly client: string,
    private readonly connections: FairQueue,
    private readonly over: Leave,
  ) {}

  /** Calls back when the request may run, synchronously if there is room. Never calls back after `leave`. */
  start(go: () => void): void {
    if (this.#left) return;
    const run = (free: Leave): void => {
      this.#free = free;
      go();
    };
    // `connections` never refuses: `inProgress` limits how many wait.
    this.#stopWaiting = this.connections.join(this.client, run, () => undefined);
  }

  /** Called when the platform has answered: its connection is free again, however slowly the client reads. */
  finish(): void {
    this.#free?.();
    this.leave();
  }

  /** Called when the client is gone. A request that already runs keeps its connection until `finish`. */
  leave(): void {
    this.#left = true;
    if (!this.#free) this.#stopWaiting?.();
    this.over();
  }
}
