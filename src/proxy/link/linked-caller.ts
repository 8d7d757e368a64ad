import { KIND, PIECE_BYTES, WINDOW_BYTES } from '../../lib/link/frames.js';
import { headBytes, writeHead } from '../../lib/link/head-frame.js';
import type { Outbox } from '../../lib/link/outbox.js';
import type { Caller } from '../caller.js';

/** What a call asks of the link that it came over. */
export interface CallerLink {
  readonly outbox: Outbox;
  /** It has bytes to send, and credit for some of them. */
  queue(caller: LinkedCaller): void;
  /** It is over: nothing more of it is sent. */
  over(caller: LinkedCaller): void;
}

/** A caller over a link. What it has no credit for, or the link no room, waits here. */
export class LinkedCaller implements Caller {
  begun = false;
  gone = false;
  /** 0: it got no answer. */
  status = 0;
  /** Its turn to send has been asked for. */
  queued = false;
  /** Nothing more of it may be sent: its number may be another's by now. */
  over = false;
  /** Since when something waits and there is no credit for any of it, by `performance.now()`. */
  stalledAt = Number.POSITIVE_INFINITY;
  #servedBy = '';
  #credit = WINDOW_BYTES;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #ending = false;
  #onLeft: (() => void) | undefined;
  #onOver: (() => void) | undefined;
  #onDrain: (() => void) | undefined;

  constructor(
    /** Its number on the link. */
    readonly id: number,
    private readonly link: CallerLink,
  ) {}

  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  onOver(listener: () => void): void {
    if (this.over) listener();
    else this.#onOver = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  servedBy(value: string): void {
    this.#servedBy = value;
  }

  answer(status: number, body: Buffer, retryAfterSeconds?: number): void {
    if (this.over) return;
    this.#begin(status, false, retryAfterSeconds);
    this.#send([body], body.length);
    this.endStream();
  }

  answerInParts(parts: readonly Buffer[]): void {
    if (this.over) return;
    this.#begin(200, false);
    for (const part of parts) this.#send([part], part.length);
    this.endStream();
  }

  send(pieces: Buffer[]): boolean {
    if (this.over) return true;
    if (!this.begun) this.#begin(200, true);
    let length = 0;
    for (const piece of pieces) length += piece.length;
    return this.#send(pieces, length);
  }

  endStream(): void {
    if (this.over) return;
    if (this.#waiting.length > 0) this.#ending = true;
    else this.#finish(KIND.end);
  }

  cut(): void {
    if (!this.over) this.#finish(KIND.cut);
  }

  /** The edge doesn't want the answer any more, or is gone itself. */
  leave(): void {
    if (this.over) return;
    this.gone = true;
    this.#finish(KIND.cut);
    this.#onLeft?.();
  }

  /** The edge takes so many more bytes. */
  credit(bytes: number): void {
    this.#credit += bytes;
    this.stalledAt = Number.POSITIVE_INFINITY;
    if (this.#waiting.length > 0) this.link.queue(this);
  }

  /** Whether much waits: what is small goes before it, in turns. */
  get isHeavy(): boolean {
    return this.#waitingBytes > PIECE_BYTES;
  }

  get overdrawn(): boolean {
    return this.#credit > WINDOW_BYTES;
  }

  /** Sends a piece of what waits. True: there is more that may be sent. */
  sendWaiting(): boolean {
    const [first] = this.#waiting;
    if (!first || this.over) return false;
    const length = Math.min(first.length, PIECE_BYTES, this.#credit);
    if (length === 0) return false;
    this.#data([length === first.length ? first : first.subarray(0, length)], length);
    this.#waitingBytes -= length;
    if (length < first.length) this.#waiting[0] = first.subarray(length);
    else this.#waiting.shift();
    if (this.#waiting.length > 0) {
      if (this.#credit === 0) this.stalledAt = performance.now();
      return this.#credit > 0;
    }
    if (this.#ending) this.#finish(KIND.end);
    else this.#onDrain?.();
    return false;
  }

  #begin(status: number, stream: boolean, retryAfterSeconds?: number): void {
    this.begun = true;
    this.status = status;
    const head = { status, stream, retryAfterSeconds, servedBy: this.#servedBy };
    this.link.outbox.add(KIND.head, this.id, headBytes(head), (target, at) => writeHead(target, at, head));
    this.link.outbox.atTurnEnd();
  }

  /** False if some of it waits. */
  #send(pieces: Buffer[], length: number): boolean {
    if (length === 0) return true;
    const { outbox } = this.link;
    if (this.#waitingBytes > 0 || length > this.#credit || length > PIECE_BYTES || outbox.full) {
      for (const piece of pieces) if (piece.length > 0) this.#waiting.push(piece);
      this.#waitingBytes += length;
      if (this.#credit > 0) this.link.queue(this);
      else this.stalledAt = Math.min(this.stalledAt, performance.now());
      return false;
    }
    this.#data(pieces, length);
    outbox.atTurnEnd();
    return true;
  }

  #data(pieces: Buffer[], length: number): void {
    this.#credit -= length;
    this.link.outbox.addPieces(KIND.data, this.id, pieces, length);
  }

  #finish(kind: number): void {
    this.over = true;
    this.#waiting = [];
    this.link.outbox.add(kind, this.id, 0);
    this.link.outbox.atTurnEnd();
    this.link.over(this);
    this.#onOver?.();
  }
}
