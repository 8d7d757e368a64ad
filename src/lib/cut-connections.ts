import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** When a connection that does nothing useful any more is cut. */
export interface ConnectionBounds {
  /** Something waits to be sent and the peer takes no byte of it for so long. */
  stalledReaderMs: number;
  /** We have ended the connection, or answered in the middle of a body, and no byte comes for so long. */
  lingerMs: number;
  /** The same while bytes still come. */
  lingerTotalMs: number;
  /** How often all connections are looked at, also by Node, whose default of 30 s would add as much to each bound. */
  checkIntervalMs: number;
}

export const CONNECTION_BOUNDS: Readonly<ConnectionBounds> = {
  stalledReaderMs: 60_000,
  lingerMs: 2_000,
  lingerTotalMs: 10_000,
  checkIntervalMs: 1_000,
};

/** How long a client may take to send; Node's own limits. */
export interface RequestBounds extends ConnectionBounds {
  /** From the connection itself, or the first byte, to the end of the headers. */
  headersTimeoutMs: number;
  /** From there to the end of the body. */
  requestTimeoutMs: number;
  /** From an answer to the next request on its connection. */
  keepAliveMs: number;
}

/** What the last look saw of a connection, and since when. */
class Watched {
  answer: ServerResponse | undefined;
  #completed = 0;
  #queued = 0;
  #takenAt = Number.NaN;
  #read = 0;
  #readAt = Number.NaN;
  #overAt = Number.NaN;

  constructor(private readonly socket: Socket) {}

  isDead(now: number, bounds: ConnectionBounds): boolean {
    return this.#isStalled(now, bounds) || this.#lingers(now, bounds);
  }

  #isStalled(now: number, { stalledReaderMs }: ConnectionBounds): boolean {
    const { socket } = this;
    if (socket.writableLength === 0) {
      this.#takenAt = Number.NaN;
      return false;
    }
    // What is appended meanwhile changes neither: writes that are done, and what the system has not taken of this one.
    const completed = socket.bytesWritten - socket.writableLength;
    const queued = (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
    if (Number.isNaN(this.#takenAt) || completed !== this.#completed || queued !== this.#queued) {
      this.#completed = completed;
      this.#queued = queued;
      this.#takenAt = now;
    }
    return now - this.#takenAt >= stalledReaderMs;
  }

  /** A peer may ignore that we have ended, and go on sending what nobody reads. */
  #lingers(now: number, { lingerMs, lingerTotalMs }: ConnectionBounds): boolean {
    const { socket, answer } = this;
    const refused = answer?.writableFinished && !answer.req.complete;
    if (!socket.writableFinished && !refused) {
      this.#overAt = Number.NaN;
      return false;
    }
    if (Number.isNaN(this.#overAt)) {
      this.#overAt = now;
      this.#readAt = now;
    }
    if (socket.bytesRead !== this.#read) {
      this.#read = socket.bytesRead;
      this.#readAt = now;
    }
    return now - this.#readAt >= lingerMs || now - this.#overAt >= lingerTotalMs;
  }
}

/**
 * Cuts connections whose peer takes nothing, or ignores that we have ended: Node's limits of time end with a FIN, after
 * which it waits for the peer's for ever. All are looked at once an interval, so that a request costs nothing but a
 * look-up; time in which this process stood still doesn't count.
 */
export function cutConnections(server: Server, bounds: ConnectionBounds): void {
  const { checkIntervalMs } = bounds;
  const connections = new Map<Socket, Watched>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Watched(socket));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const watched = connections.get(socket);
    if (watched) watched.answer = response;
  });
  let awake = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    awake += Math.min(now - last, 2 * checkIntervalMs);
    last = now;
    for (const [socket, watched] of connections) if (watched.isDead(awake, bounds)) socket.destroy();
  }, checkIntervalMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
