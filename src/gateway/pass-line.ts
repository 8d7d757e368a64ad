import type { EdgeBounds } from './edge-bounds.js';

interface Client {
  places: number;
  running: number;
  line: Place[];
}

type Bounds = Pick<EdgeBounds, 'passedPerClient' | 'passedAtOncePerClient' | 'platformConnections'>;

/**
 * Shares the connections to the platform fairly among clients. A limited number of each client's requests run at once,
 * and never more than half of the free connections, so the next client always finds one. Some more requests wait in the
 * client's queue, and the rest are refused. Waiting clients take turns.
 */
export class PassLine {
  readonly #clients = new Map<string, Client>();
  /** Those with a queue, in the order of their turns. */
  readonly #waiting = new Set<Client>();
  #running = 0;

  constructor(private readonly bounds: Bounds) {}

  /** Admits a request. Returns undefined when its client has too many in progress. */
  enter(name: string): Place | undefined {
    const client = this.#clients.get(name) ?? { places: 0, running: 0, line: [] };
    if (client.places >= this.bounds.passedPerClient) return undefined;
    client.places++;
    this.#clients.set(name, client);
    return new Place({
      wait: (place) => {
        client.line.push(place);
        this.#waiting.add(client);
        this.#start();
      },
      finish: () => {
        client.running--;
        this.#running--;
        this.#start();
      },
      leave: (place) => {
        client.places--;
        const at = client.line.indexOf(place);
        if (at >= 0) client.line.splice(at, 1);
        if (client.line.length === 0) this.#waiting.delete(client);
      },
      left: () => {
        if (client.places === 0 && client.running === 0) this.#clients.delete(name);
      },
    });
  }

  /** Runs what may run, one of each client at a time. */
  #start(): void {
    for (const client of this.#waiting) {
      if (!this.#hasRoom(client)) continue;
      const place = client.line.shift()!;
      this.#waiting.delete(client);
      // Behind all others; this loop comes to it again.
      if (client.line.length > 0) this.#waiting.add(client);
      client.running++;
      this.#running++;
      place.run();
    }
  }

  #hasRoom({ running }: Client): boolean {
    const free = this.bounds.platformConnections - this.#running;
    return free > 0 && running < this.bounds.passedAtOncePerClient && 2 * running <= free;
  }
}

interface Line {
  wait(place: Place): void;
  finish(): void;
  leave(place: Place): void;
  /** After either of the two before. */
  left(): void;
}

/** One admitted request. */
export class Place {
  #go: (() => void) | undefined;
  #left = false;
  #running = false;

  constructor(private readonly line: Line) {}

  /** Calls back when the request may run, synchronously if there is room. Never calls back after `leave`. */
  start(go: () => void): void {
    if (this.#left) return;
    this.#go = go;
    this.line.wait(this);
  }

  /** It is this request's turn. */
  run(): void {
    this.#running = true;
    this.#go?.();
  }

  /** The platform has answered the request, so its connection is free again, however slowly the client reads. */
  finish(): void {
    if (!this.#running) return;
    this.#running = false;
    this.line.finish();
    this.leave();
    this.line.left();
  }

  /** The client is gone. A request that already runs keeps its connection until `finish`. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.line.leave(this);
    this.line.left();
  }
}
