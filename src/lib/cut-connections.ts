import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** When to cut off a useless connection. */
export interface ConnectionBounds {
  /** Data is pending, and the peer has read none of it for this long. */
  stalledReaderMs: number;
  /** We ended the connection or answered an incomplete request, and no byte has arrived for this long. */
  lingerMs: number;
  /** The same, while bytes still arrive. */
  lingerTotalMs: number;
  /** Interval of checks, ours and Node's. Node's default of 30 s would add up to 30 s to every limit. */
  checkIntervalMs: number;
}

export const CONNECTION_BOUNDS: Readonly<ConnectionBounds> = {
  stalledReaderMs: 60_000,
  lingerMs: 2_000,
  lingerTotalMs: 10_000,
  checkIntervalMs: 1_000,
};

/** These bounds with the limits on sending a request, which Node enforces. */
export interface RequestBounds extends ConnectionBounds {
  /** From the connection, or the first byte on a kept-alive one, to the end of the headers. */
  headersTimeoutMs: number;
  /** From the end of the headers to the end of the body. */
  requestTimeoutMs: number;
  /** From an answer to the next request on its connection. */
  keepAliveMs: number;
  /** While the server ends, a connection stays open this long after its last response: the next request may be under way. */
  restMs: number;
}

/** A longer gap between two checks means that the process was suspended. Clients are not to blame for that time. */
const STANDSTILL_MS = 5_000;

/**
 * Calls `check` at an interval until the server closes. Its argument is the time in milliseconds for which the process was
 * suspended since the last check.
 */
export function checkRegularly(
  server: Server,
  intervalMs: number,
  check: (suspendedMs: number) => void,
): void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const suspendedMs = Math.max(0, now - last - STANDSTILL_MS);
    last = now;
    check(suspendedMs);
  }, intervalMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/** The state of a connection at the last check. */
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
    // Completed writes, and the bytes of the current one that the kernel hasn't taken. Appending data changes neither.
    const completed = socket.bytesWritten - socket.writableLength;
    const queued = (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
    if (Number.isNaN(this.#takenAt) || completed !== this.#completed || queued !== this.#queued) {
      this.#completed = completed;
      this.#queued = queued;
      this.#takenAt = now;
    }
    return now - this.#takenAt >= stalledReaderMs;
  }

  /** Whether the peer ignores our FIN, or keeps sending the body of a request that has been answered. */
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
 * Cuts off connections whose peer reads nothing or ignores our FIN. After one of Node's own timeouts, Node sends a FIN and then
 * waits for the peer's without a limit. Connections are checked in one sweep per interval, so a request costs only one map look-up.
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
  let suspended = 0;
  checkRegularly(server, checkIntervalMs, (suspendedMs) => {
    suspended += suspendedMs;
    const awake = performance.now() - suspended;
    for (const [socket, watched] of connections) if (watched.isDead(awake, bounds)) socket.destroy();
  });
}
