import type { EdgeBounds } from './edge-bounds.js';

interface Client {
  places: number;
  running: number;
  line: Place[];
}

/**
 * Shares the connections to the platform fairly among clients. A limited number of each client's requests run at once,
 * some more wait in that client's own queue, and the rest are refused.
 */
export class PassLine {
  readonly #clients = new Map<string, Client>();

  constructor(private readonly bounds: Pick<EdgeBounds, 'passedPerClient' | 'passedAtOncePerClient'>) {}

  /** Admits a request. Returns undefined when its client has too many in progress. */
  enter(name: string): Place | undefined {
    const client = this.#clients.get(name) ?? { places: 0, running: 0, line: [] };
    if (client.places >= this.bounds.passedPerClient) return undefined;
    client.places++;
    this.#clients.set(name, client);
    return new Place(client, this.bounds.passedAtOncePerClient, () => {
      if (client.places === 0 && client.running === 0) this.#clients.delete(name);
    });
  }
}

/** One admitted request. */
export class Place {
  #go: (() => void) | undefined;
  #left = false;
  #running = false;

  constructor(
    private readonly client: Client,
    private readonly atOnce: number,
    private readonly onEmpty: () => void,
  ) {}

  /** Calls back when the request may run, synchronously if there is room. Never calls back after `leave`. */
  start(go: () => void): void {
    if (this.#left) return;
    this.#go = go;
    this.client.line.push(this);
    this.#next();
  }

  /** The platform is done with the request: its connection is free again. However slowly the client reads, it counts no more. */
  finish(): void {
    if (!this.#running) return;
    this.#running = false;
    this.client.running--;
    this.#next();
    this.leave();
    this.onEmpty();
  }

  /** The client is gone. A request that already runs keeps its connection until `finish`. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.client.places--;
    const at = this.client.line.indexOf(this);
    if (at >= 0) this.client.line.splice(at, 1);
    this.onEmpty();
  }

  #next(): void {
    const { client } = this;
    while (client.running < this.atOnce) {
      const next = client.line.shift();
      if (!next) return;
      next.#run();
    }
  }

  #run(): void {
    this.#running = true;
    this.client.running++;
    this.#go?.();
  }
}
