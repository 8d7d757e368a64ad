import type { Awaited } from '../upstream/late-watch.js';
import { ResponseParseError } from '../upstream/response-head.js';
import type { CallHead, Carrier } from '../upstream/upstream.js';
import { type UpstreamHandler, UpstreamTimeoutError } from '../upstream/upstream-handler.js';
import { FrameError, PIECE_BYTES, WINDOW_BYTES } from './frames.js';
import { readHead } from './head-frame.js';

/** What a call asks of its link. */
export interface CallLink {
  /** Cancels the call at the proxy. */
  cancel(call: LinkCall): void;
  /** Lets the proxy send so many more bytes. */
  credit(call: LinkCall, bytes: number): void;
  /** Calls `deliver` once what is running now is over. */
  later(call: LinkCall): void;
  lookBy(dueAt: number): void;
}

const NOTHING = Buffer.alloc(0);

/** One call over a link, at the edge. */
export class LinkCall implements Carrier, Awaited {
  dueAt = Number.POSITIVE_INFINITY;
  /** Whether the proxy knows of it. */
  sent = false;
  #handler: UpstreamHandler | undefined;
  /** What is still to be sent of the body. */
  #rest: Buffer;
  #begun = false;
  /** While only the head of the answer is there: when the rest has to begin at the latest. */
  #beginBy = Number.POSITIVE_INFINITY;
  #paused = false;
  /** What came while the handler was paused, and what came behind it. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #outcome: 'end' | 'cut' | undefined;
  /** Bytes that the handler took and the proxy has no credit for yet. */
  #taken = 0;
  /** What carries it where the link was lost before it was sent. */
  #instead: Carrier | undefined;

  constructor(
    /** Its number on the link. */
    readonly id: number,
    readonly head: CallHead,
    body: Buffer,
    handler: UpstreamHandler,
    private readonly link: CallLink,
  ) {
    this.#handler = handler;
    this.#rest = body;
    this.#wait();
  }

  /** Whether somebody waits for it. */
  get wanted(): boolean {
    return this.#handler !== undefined;
  }

  /** Bytes of the body that are still to be sent. */
  get unsentBytes(): number {
    return this.#rest.length;
  }

  /** The next piece of the body, of `most` bytes if there are so many. */
  nextPiece(most = PIECE_BYTES): Buffer {
    const piece = this.#rest.subarray(0, most);
    this.#rest = piece.length === this.#rest.length ? NOTHING : this.#rest.subarray(piece.length);
    return piece;
  }

  abort(handler: UpstreamHandler): void {
    if (this.#handler === handler) this.#drop();
    else this.#instead?.abort(handler);
  }

  pause(handler: UpstreamHandler): void {
    if (this.#handler !== handler) {
      this.#instead?.pause(handler);
      return;
    }
    this.#paused = true;
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  resume(handler: UpstreamHandler): void {
    if (this.#handler !== handler) {
      this.#instead?.resume(handler);
      return;
    }
    if (!this.#paused) return;
    this.#paused = false;
    this.#wait();
    if (this.#kept.length > 0 || this.#outcome) this.link.later(this);
  }

  late(): void {
    this.#fail(new UpstreamTimeoutError(true));
  }

  /** The link is gone. */
  lost(error: Error): void {
    const handler = this.#handler;
    this.#forget();
    handler?.onError(error);
  }

  /** The link was gone before the call was sent: another way carries it. */
  moveTo(carry: (head: CallHead, body: Buffer, handler: UpstreamHandler) => Carrier): void {
    const handler = this.#handler;
    const body = this.#rest;
    this.#forget();
    if (!handler) return;
    this.#instead = carry(this.head, body, handler);
    if (this.#paused) this.#instead.pause(handler);
  }

  /** @throws FrameError */
  onHead(payload: Buffer): void {
    const head = readHead(payload);
    if (this.#begun) throw new FrameError('a second head');
    this.#begun = true;
    this.#beginBy = this.dueAt;
    this.#tell((handler) => handler.onHead(head));
    this.#moveOn();
  }

  /** @throws FrameError */
  onData(payload: Buffer, own: boolean): void {
    if (!this.#begun) throw new FrameError('data before a head');
    if (!this.#handler || payload.length === 0) return;
    const data = own ? payload : Buffer.from(payload);
    if (!this.#paused && this.#keptBytes === 0) {
      this.#take(data);
      return;
    }
    this.#keptBytes += data.length;
    if (this.#keptBytes > WINDOW_BYTES) throw new FrameError('more data than there is credit for');
    this.#kept.push(data);
  }

  /** The proxy is done with it. @throws FrameError */
  onOver(outcome: 'end' | 'cut'): void {
    if (outcome === 'end' && !this.#begun) throw new FrameError('the end of an answer that has not begun');
    this.#rest = NOTHING;
    this.#outcome = outcome;
    if (!this.#paused && this.#kept.length === 0) this.#complete();
  }

  /** Delivers the data that was kept. */
  deliver(): void {
    while (!this.#paused && this.#handler && this.#kept.length > 0) {
      const data = this.#kept.shift()!;
      this.#keptBytes -= data.length;
      this.#take(data);
    }
    if (!this.#paused && this.#kept.length === 0 && this.#outcome) this.#complete();
  }

  #take(data: Buffer): void {
    this.#tell((handler) => handler.onData(data));
    if (!this.#handler) return;
    this.#moveOn();
    this.#taken += data.length;
    if (this.#taken < WINDOW_BYTES / 2 || this.#outcome) return;
    this.link.credit(this, this.#taken);
    this.#taken = 0;
  }

  #complete(): void {
    const handler = this.#handler;
    const outcome = this.#outcome;
    this.#forget();
    if (!handler) return;
    try {
      if (outcome === 'end') handler.onEnd();
      else handler.onError(new ResponseParseError('the response was cut off'));
    } catch (error) {
      handler.onError(error as Error);
    }
  }

  #tell(what: (handler: UpstreamHandler) => void): void {
    const handler = this.#handler;
    if (!handler) return;
    try {
      what(handler);
    } catch (error) {
      if (this.#handler === handler) this.#fail(error as Error);
    }
  }

  /** Begins to wait for what comes next. */
  #wait(): void {
    const handler = this.#handler;
    if (this.#paused || !handler) return;
    const { bodyTimeoutMs, headersTimeoutMs } = handler.patience;
    const mostMs = this.#begun ? bodyTimeoutMs : headersTimeoutMs;
    this.dueAt = Math.min(performance.now() + mostMs, this.#beginBy);
    this.link.lookBy(this.dueAt);
  }

  /** Some of the answer has come. */
  #moveOn(): void {
    if (this.#handler?.movedOn !== false) this.#beginBy = Number.POSITIVE_INFINITY;
    else if (this.#beginBy === Number.POSITIVE_INFINITY) return;
    this.#wait();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#drop();
    handler?.onError(error);
  }

  #drop(): void {
    const isOver = this.#outcome !== undefined;
    this.#forget();
    if (this.sent && !isOver) this.link.cancel(this);
  }

  #forget(): void {
    this.#handler = undefined;
    this.#rest = NOTHING;
    this.#kept = [];
    this.#keptBytes = 0;
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
