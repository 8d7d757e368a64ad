import type { Socket } from 'node:net';

/** What the system has taken of all that was sent on a connection, which is about what the client has read. */
export class TakenBytes {
  constructor(private readonly socket: Socket) {}

  get bodyBytes(): number {
    const handle = (this.socket as { _handle?: { bytesWritten: number; writeQueueSize: number } })._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }
}
