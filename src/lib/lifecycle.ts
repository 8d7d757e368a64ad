import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from './logger.js';

/** Interval of closing idle sockets. A socket left by a finished call would keep `close()` waiting for seconds. */
const IDLE_SWEEP_MS = 50;
/** How long a connection that was just accepted may take to send the first byte of its request. */
const FRESH_MS = 1_000;
const FRESH_POLL_MS = 5;
/** How long the headers of a first request may take to complete after the door is shut. */
const UNBORN_MS = 2_000;
/** How long a busy process may take to accept its queue of connections. */
const QUEUE_MS = 3_000;
/** After this many turns of the event loop without a new connection, the queue is empty. */
const QUIET_TURNS = 3;

export interface ShutdownOptions {
  /** Milliseconds after which the process exits with code 1, even if `stop` hasn't finished. */
  timeoutMs: number;
}

/**
 * Runs `stop` once on SIGTERM, SIGINT or the end of the parent (IPC `disconnect`), then exits with code 0, or with 1 if `stop` fails
 * or takes longer than `timeoutMs`. Further signals are ignored meanwhile: Ctrl-C reaches the whole process group, and the launcher
 * sends another signal.
 */
export function onShutdown(log: Logger, stop: () => Promise<void>, { timeoutMs }: ShutdownOptions): void {
  let stopping = false;
  const begin = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'draining');
    const timer = setTimeout(() => {
      log.error({ timeoutMs }, 'draining took too long; exiting now');
      process.exit(1);
    }, timeoutMs);
    stop().then(
      () => {
        clearTimeout(timer);
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ error }, 'draining failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', begin);
  process.on('disconnect', () => begin('disconnect'));
  // The parent may have ended while this process was starting.
  if (process.send && !process.connected) begin('disconnect');
}

/** Exit code for an invalid configuration (sysexits' EX_CONFIG): a restart can't help. */
export const CONFIG_EXIT_CODE = 78;
/** Exit code if another program uses the port (sysexits' EX_TEMPFAIL): the process would start on another port. */
export const PORT_TAKEN_EXIT_CODE = 75;

/**
 * Runs the start of a process. A failure prints one line on stderr and exits with code 1, or `PORT_TAKEN_EXIT_CODE` if the port is
 * taken.
 */
export async function startOrExit(name: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.stderr.write(`${name}: can't start: ${message.split('\n', 1)[0]}\n`);
    process.exit(code === 'EADDRINUSE' ? PORT_TAKEN_EXIT_CODE : 1);
  }
}

/** The parent's question whether the event loop of a process still turns (launcher/supervisor.ts). */
export const PING = { type: 'ping' };

function send(message: object): void {
  // Without a callback, a parent that has just ended would cause an uncaught error.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function answerPing(message: unknown): void {
  if ((message as { type?: unknown } | null)?.type === PING.type) send({ type: 'pong' });
}

/** Reports to the parent, if there is one, that this process listens at `url`, and answers its pings from then on. */
export function announceReady(url: string): void {
  // Doesn't keep the process running for longer than the listener of `onShutdown` on the same channel.
  if (process.connected) process.on('message', answerPing);
  send({ type: 'ready', url });
}

/** Asks the parent, if there is one, to print a line for the operator. */
export function tellParent(line: string): void {
  send({ type: 'note', line });
}

export interface ClosingOptions {
  /**
   * Milliseconds after a connection's last answer before it is closed: the next request may be on its way, and its caller would get a
   * reset. The answer must have the header `connection: close`.
   */
  restMs?: number;
}

/**
 * Returns a function that closes `server`, which must not listen yet: it shuts the door first (see `doorOf`), then runs `close`, which
 * waits for the server to end, and closes idle connections every 50 ms meanwhile. Browsers and SDKs open connections in advance, which
 * Node takes for busy and, while closing, never times out.
 */
export function idleCloser(
  server: Server,
  options: ClosingOptions = {},
): (close: () => PromiseLike<unknown>) => Promise<void> {
  const door = doorOf(server, options);
  return async (close) => {
    await door.shut();
    // Lets the process read arrived requests first, even after a standstill longer than `restMs`.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), IDLE_SWEEP_MS);
    try {
      await close();
    } finally {
      clearInterval(sweep);
    }
  };
}

interface Door {
  /** Accepts queued connections, then stops listening and waits for first requests of accepted connections. */
  shut(): Promise<void>;
}

interface Connection {
  /** The latest answer; undefined before the first request. */
  answer: ServerResponse | undefined;
  /** When the last answer was sent in full. */
  answeredAt: number;
}

/**
 * Node's `close()` resets connections whose callers did nothing wrong: those that the system has accepted but Node hasn't (Node takes
 * one per turn of the event loop), those whose first request is on its way, those whose answer is complete but not yet read, and those
 * whose next request is on its way. `shut` waits for the first two kinds; a replaced `closeIdleConnections` spares the others.
 */
function doorOf(server: Server, { restMs = 0 }: ClosingOptions): Door {
  const connections = new Map<Socket, Connection>();
  let taken = 0;
  let shutAt = Number.POSITIVE_INFINITY;
  server.on('connection', (socket: Socket) => {
    taken++;
    connections.set(socket, { answer: undefined, answeredAt: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    connection.answer = response;
    if (restMs === 0) return;
    response.once('finish', () => {
      connection.answeredAt = performance.now();
    });
  });
  server.closeIdleConnections = () => {
    const shutFor = Date.now() - shutAt;
    const restsSince = performance.now() - restMs;
    for (const [socket, { answer, answeredAt }] of connections) {
      // A request on its way gets some time to complete, since Node's own timeouts end with its `close()`.
      const unborn = shutFor > (socket.bytesRead === 0 ? 0 : UNBORN_MS);
      const rests = answer?.writableFinished === true && answeredAt <= restsSince;
      if (answer ? rests : unborn) socket.destroy();
    }
  };
  const silent = (): boolean =>
    [...connections].some(([socket, { answer }]) => !answer && socket.bytesRead === 0);

  return {
    async shut() {
      for (let quiet = 0, end = Date.now() + QUEUE_MS; quiet < QUIET_TURNS && Date.now() < end; ) {
        const before = taken;
        await nextTurn();
        quiet = taken === before ? quiet + 1 : 0;
      }
      NetServer.prototype.close.call(server);
      for (const end = Date.now() + FRESH_MS; silent() && Date.now() < end; ) await delay(FRESH_POLL_MS);
      shutAt = Date.now() - 1;
    },
  };
}
