import type { WebSocket } from 'ws';

/** What one connection may send (requirement T14). */
export interface WatchBounds {
  /** A client that hasn't answered a ping when the next one is due is considered gone. */
  pingIntervalMs: number;
  /**
   * Messages and pings between two of our pings, and in total before authentication. Each 4 KiB of a message count as
   * one more.
   */
  messages: number;
  messagesBeforeSession: number;
}

export const WATCH_BOUNDS: Readonly<WatchBounds> = {
  pingIntervalMs: 30_000,
  messages: 1_000,
  messagesBeforeSession: 20,
};

/** Each further part of this size counts as one more message, since it has to be parsed. */
const BYTES_PER_MESSAGE = 4 * 1024;

/** The code with which graphql-ws closes clients that initialise twice. */
const TOO_MANY = 4429;

export interface Watch {
  /** Counts a message of this size. False if it must be ignored because the connection is closing. */
  admit(bytes: number): boolean;
  stop(): void;
}

/**
 * Ends connections whose client is gone, doesn't read, or sends without end. A ping has six bytes: one read from the
 * network holds ten thousand, and answering them would block the process for everybody else.
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
      // Further data stays in the network until the connection is cut.
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
