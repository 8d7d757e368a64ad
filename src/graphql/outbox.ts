import type { WebSocket } from 'ws';
import { SMALL_BYTES } from '../lib/fair/reader-memory.js';

/** What may wait behind the message that a client is taking; the one that exceeds it waits too. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;

/**
 * Takes memory that large messages of all connections share, for the reader of this one. Returns what gives it back; undefined if
 * there is no room.
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
 * Sends messages one at a time. A client may be behind by the one that it is taking, however large that is; how long it takes is
 * limited by our pings. If too much waits behind it, or large messages of all clients have no more room, the connection is cut:
 * operations that were let in together may answer much more than a client reads.
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
