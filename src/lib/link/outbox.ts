import type { Socket } from 'node:net';
import { HEADER_BYTES, writeHeader } from './frames.js';

const ROOM_BYTES = 64 * 1024;
/** Larger payloads are sent as they are instead of being copied. */
const COPIED_BYTES = 8 * 1024;
/** While so much waits for the system to take it, bodies wait in their calls. */
const MOST_UNSENT_BYTES = 256 * 1024;

/** Collects the frames of one turn of the event loop, so that they leave in one write. */
export class Outbox {
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  /** What of `#room` is in no piece yet. */
  #from = 0;
  #at = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Turns' ends that were asked for, and how many of them belong to the turn that is ending. */
  #asked = 0;
  #ofThisTurn = 0;

  constructor(private readonly socket: Socket) {}

  /** Whether the peer takes less than it is sent. */
  get full(): boolean {
    return this.#bytes + this.socket.writableLength >= MOST_UNSENT_BYTES;
  }

  /** Adds a frame whose payload is written by `write`, at a place in a buffer; no more than `length` bytes. */
  add(kind: number, id: number, length: number, write?: (target: Buffer, at: number) => void): void {
    const at = this.#reserve(kind, id, length, length);
    write?.(this.#room, at);
  }

  /** Adds a frame whose payload is these pieces, which stay as they are until they have left. */
  addPieces(kind: number, id: number, pieces: readonly Buffer[], length: number): void {
    if (length > COPIED_BYTES) {
      this.#reserve(kind, id, length, 0);
      this.#close();
      for (const piece of pieces) this.#pieces.push(piece);
      this.#bytes += length;
      return;
    }
    let at = this.#reserve(kind, id, length, length);
    for (const piece of pieces) at += piece.copy(this.#room, at);
  }

  /**
   * Runs `work` at the end of this turn, and sends what has been added after the last such work of the turn. An immediate for
   * each keeps their order among all others.
   */
  atTurnEnd(work?: () => void): void {
    // Whatever is still asked for is followed by a write.
    if (!work && this.#asked > 0) return;
    this.#asked++;
    setImmediate(this.#turnEnd, work);
  }

  /** Sends what has been added. */
  flush(): void {
    this.#close();
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    this.#bytes = 0;
    const { socket } = this;
    if (!socket.writable) return;
    if (pieces.length === 1) {
      socket.write(pieces[0]!);
      return;
    }
    socket.cork();
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
  }

  readonly #turnEnd = (work: (() => void) | undefined): void => {
    // Immediates that are asked for from here on belong to the next turn.
    if (this.#ofThisTurn === 0) this.#ofThisTurn = this.#asked;
    this.#asked--;
    work?.();
    if (--this.#ofThisTurn === 0) this.flush();
  };

  #reserve(kind: number, id: number, length: number, copied: number): number {
    const bytes = HEADER_BYTES + copied;
    this.#renew(bytes);
    writeHeader(this.#room, this.#at, kind, id, length);
    const at = this.#at + HEADER_BYTES;
    this.#at += bytes;
    this.#bytes += bytes;
    return at;
  }

  #renew(bytes: number): void {
    // The system has taken all that was written from here.
    if (this.#bytes === 0 && this.socket.writableLength === 0) {
      this.#from = 0;
      this.#at = 0;
    }
    if (this.#room.length - this.#at >= bytes) return;
    this.#close();
    this.#room = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES, bytes));
    this.#from = 0;
    this.#at = 0;
  }

  #close(): void {
    if (this.#at === this.#from) return;
    this.#pieces.push(this.#room.subarray(this.#from, this.#at));
    this.#from = this.#at;
  }
}
