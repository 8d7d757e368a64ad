import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from './logger.js';

/** A socket that a finished call leaves behind keeps `close()` waiting for seconds unless it is closed as well. */
const IDLE_SWEEP_MS = 50;
/** How long a connection that was just taken may need to bring its request. */
const FRESH_MS = 1_000;
const FRESH_POLL_MS = 5;
/** How long the head of a first request that has begun may take once the door is shut. */
const UNBORN_MS = 2_000;
/** How long the queue of a busy process may take to be emptied. */
const QUEUE_MS = 3_000;
/** Turns of the event loop without a new connection after which none waits to be taken. */
const QUIET_TURNS = 3;

export interface ShutdownOptions {
  /** Milliseconds after which the process ends all the same, with code 1. */
  timeoutMs: number;
}

/**
 * Runs `stop` once on SIGTERM, SIGINT or the end of the parent (IPC `disconnect`), then ends the process with code
 * 0, or 1 when `stop` fails or takes longer than `timeoutMs`. Further signals are ignored while it drains: Ctrl-C
 * reaches the whole process group and the launcher sends one more.
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

/** Exit code of a process whose configuration is wrong (sysexits' EX_CONFIG): trying again can't help. */
export const CONFIG_EXIT_CODE = 78;
/** Exit code of a process whose port another program has (sysexits' EX_TEMPFAIL): on another it would start. */
export const PORT_TAKEN_EXIT_CODE = 75;

/**
 * Runs the start of a process; one that fails is one line on stderr and exit code 1, for whoever starts it again, or
 * `PORT_TAKEN_EXIT_CODE`.
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
  // Without a callback a parent that has just ended would be an uncaught error.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function answerPing(message: unknown): void {
  if ((message as { type?: unknown } | null)?.type === PING.type) send({ type: 'pong' });
}

/** Reports to the parent, if there is one, that this process listens at `url`, and answers its pings from then on. */
export function announceReady(url: string): void {
  // Keeps the process running no longer than the listener of `onShutdown` on the same channel.
  if (process.connected) process.on('message', answerPing);
  send({ type: 'ready', url });
}

/** Asks the parent, if there is one, to tell the person a line. */
export function tellParent(line: string): void {
  send({ type: 'note', line });
}

export interface ClosingOptions {
  /**
   * Milliseconds that must have passed since the last answer of a connection before it is closed: until then the next request
   * may be under way, and its caller would get a reset. Its answer has to say `connection: close`.
   */
  restMs?: number;
}

/**
 * Makes the way to close `server`, which must not listen yet: the door is shut first (see `doorOf`), then `close`, which
 * waits for the server to end, runs while connections that wait for nothing are closed every 50 ms. Browsers and SDKs
 * open connections ahead of need; Node takes those for busy, and once it closes it applies no timeout of its own to them.
 */
export function idleCloser(
  server: Server,
  options: ClosingOptions = {},
): (close: () => PromiseLike<unknown>) => Promise<void> {
  const door = doorOf(server, options);
  return async (close) => {
    await door.shut();
    // A request that has arrived is read first, also if the process stood still for longer than a connection may rest.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), IDLE_SWEEP_MS);
    try {
      await close();
    } finally {
      clearInterval(sweep);
    }
  };
}

interface Door {
  /** Takes what waits to be taken, then no new connection any more, and lets those bring their first request. */
  shut(): Promise<void>;
}

interface Connection {
  /** The latest answer; none before the first request. */
  answer: ServerResponse | undefined;
  /** When an answer was last sent in full. */
  answeredAt: number;
}

/**
 * Node's `close()` resets callers who did nothing wrong: those that the system has accepted but Node hasn't (one per
 * turn of the event loop), those whose first request is still on its way, those whose answer is complete but not
 * yet read, and those whose next request is on its way. With this the first two are waited for by `shut`, and the others by
 * a `closeIdleConnections` that knows.
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
      // A request that is still on its way gets a while to become whole: Node's own limits end with its `close()`.
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
