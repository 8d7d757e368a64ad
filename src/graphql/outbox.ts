import type { WebSocket } from 'ws';

/** What may wait behind the message that a client is taking; the one that exceeds it waits too. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;

interface Message {
  text: string;
  bytes: number;
  /** Told when it has left, or can't leave any more. */
  over(): void;
}

/**
 * Sends messages one at a time. A client may be behind by the one that it is taking, however large that is; how long it takes is
 * limited by our pings. If too much waits behind it, the connection is cut: operations that were let in together may answer much
 * more than a client reads.
 */
export function createOutbox(socket: WebSocket): (text: string) => Promise<void> {
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
      if (waitingBytes > MAX_WAITING_BYTES) {
        socket.terminate();
        over();
        return;
      }
      const bytes = Buffer.byteLength(text);
      waiting.push({ text, bytes, over });
      waitingBytes += bytes;
      if (!isSending) sendNext();
    });
}
