import type { WebSocket } from 'ws';
import { SMALL_BYTES } from '../lib/fair/reader-memory.js';

/** Bytes that may wait behind the message being sent. The message that exceeds it still waits. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;

/**
 * Reserves memory that large messages of all connections share, for this connection's reader. Returns a function that
 * frees it; undefined if there is no room.
 */
type TakeMemory = (bytes: number) => (() => void) | undefined;

interface Message {
  text: string;
  bytes: number;
  /** Called when it was sent, or can't be sent any more. */
  over(): void;
}

const NOTHING = (): void => undefined;

/**
 * Sends messages one at a time. A client may be behind by the message that it is receiving, however large; our pings
 * limit how long that takes. The connection is cut if too much waits behind that message, or large messages of all
 * clients exceed their memory: operations admitted together may return much more than a client reads.
 */
export function createOutbox(socket: WebSocket, take: TakeMemory): (text: string) => Promise<void> {
  const waiting: Message[] = [];
  let waitingBytes = 0;
  let isSending = false;
  const sendNext = (): void => {
    const message = waiting.shift();
    isSending = message !== undefined;
    if (!message) return;
    waitingBytes -= message.bytes;
    // A broken connection is reported when it closes, not by messages in transit.
    socket.send(message.text, () => {
      message.over();
      sendNext();
    });
  };
  return (text) =>
    new Promise((over) => {
      const bytes = Buffer.byteLength(text);
      const giveBack = bytes > SMALL_BYTES ? take(bytes) : NOTHING;
      if (waitingBytes > MAX_WAITING_BYTES || !giveBack) {
        giveBack?.();
        socket.terminate();
        over();
        return;
      }
      const left = (): void => {
        giveBack();
        over();
      };
      waiting.push({ text, bytes, over: left });
      waitingBytes += bytes;
      if (!isSending) sendNext();
    });
}
