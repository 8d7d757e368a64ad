import type { WebSocket } from 'ws';

/** What one connection may send (requirement T14). */
export interface WatchBounds {
  /** Who hasn't answered one ping when the next is due is gone. */
  pingIntervalMs: number;
  /**
   * Messages and pings from one ping of ours to the next, and in all of them before a session is shown. A message counts one more
   * for each 4 KiB.
   */
  messages: number;
  messagesBeforeSession: number;
}

export const WATCH_BOUNDS: Readonly<WatchBounds> = {
  pingIntervalMs: 30_000,
  messages: 1_000,
  messagesBeforeSession: 20,
};

/** So much of a message counts as one more: it is parsed, however little it says. */
const BYTES_PER_MESSAGE = 4 * 1024;

/** As graphql-ws closes who begins twice. */
const TOO_MANY = 4429;

export interface Watch {
  /** Counts a message of so many bytes. False: it isn't to be looked at, since the connection is closing. */
  admit(bytes: number): boolean;
  stop(): void;
}

/**
 * Ends connections whose other side is gone, reads nothing, or sends without end. A ping is six bytes: one read from the
 * network holds ten thousand, and answering them would keep the process from everybody else.
 */
export function watchSocket(socket: WebSocket, bounds: WatchBounds, hasSession: () => boolean): Watch {
  let answered = true;
  let messages = 0;
  const beat = setInterval(() => {
    if (!answered) {
      socket.terminate();
      return;
    }
    answered = false;
    if (hasSession()) messages = 0;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, bounds.pingIntervalMs).unref();
  const admit = (bytes: number): boolean => {
    if (socket.readyState !== socket.OPEN) return false;
    messages += 1 + Math.floor(bytes / BYTES_PER_MESSAGE);
    if (messages > (hasSession() ? bounds.messages : bounds.messagesBeforeSession)) {
      socket.close(TOO_MANY, 'Too many messages');
      // What else it sends stays in the network until the connection is cut.
      socket.pause();
    } else return true;
    return false;
  };
  socket.on('pong', () => {
    answered = true;
  });
  socket.on('ping', (data) => {
    if (admit(data.length)) socket.pong(data);
  });
  return { admit, stop: () => clearInterval(beat) };
}
