import type { Duplex } from 'node:stream';
import type { Money } from '../../../lib/money.js';
import {
  ANSWER,
  type AnswerFrame,
  CLOSES,
  GRANT,
  type GrantFrame,
  LENGTHS,
  RECALL,
  REPORT,
  type ReportFrame,
  TAKE,
  type TakeFrame,
  TIME_BYTES,
  VERDICTS,
  WANTS,
  WORDS,
} from './frames.js';

const LEAST_BYTES = 512;
const MOST_BYTES = 64 * 1024;
const MOST = 2n ** 63n - 1n;
const fitting = (amount: Money): Money => (amount > MOST ? MOST : amount < -MOST ? -MOST : amount);

/** When there is no hurry: what has changed can travel with the next question. */
const REPORTS_WAIT_MS = 2;

/** Words as they travel. */
export const textOf = (words: unknown): Buffer => Buffer.from(JSON.stringify(words));

/** Lets a writer gather the frames of more than one turn. */
export interface Gathering {
  /** Whether to wait at the end of a turn; the owner then calls `flush` later. */
  waits(): boolean;
  onFlush(): void;
}

/** Gathers frames and sends them in one write at the end of this turn, or later if `gathering` waits. */
export class FrameWriter {
  #bytes = Buffer.alloc(0);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  #size = LEAST_BYTES;
  #due = false;
  #reportsDue: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: Duplex,
    private readonly gathering?: Gathering,
  ) {}

  take({ ref, limit, day, hold, balance, seq, cap, spend }: TakeFrame): void {
    const at = this.#begin(TAKE);
    const view = this.#view;
    view.setUint32(at + 1, ref);
    view.setUint32(at + 5, limit);
    view.setUint32(at + 9, day);
    view.setBigInt64(at + 13, hold);
    view.setBigInt64(at + 21, fitting(balance));
    view.setBigInt64(at + 29, seq);
    view.setBigInt64(at + 37, cap === null ? -1n : fitting(cap));
    view.setBigInt64(at + 45, spend);
  }

  report(frame: ReportFrame): void {
    const { used } = frame;
    const at = this.#begin(REPORT, TIME_BYTES * used.length);
    const view = this.#view;
    view.setUint32(at + 1, frame.ref);
    view.setUint32(at + 5, frame.day);
    view.setBigInt64(at + 9, frame.holds);
    view.setBigInt64(at + 17, frame.charges);
    view.setBigInt64(at + 25, fitting(frame.balance));
    view.setBigInt64(at + 33, frame.seq);
    view.setBigInt64(at + 41, frame.spend);
    view.setBigInt64(at + 49, frame.money);
    view.setUint32(at + 57, frame.calls);
    view.setUint8(at + 61, (frame.wants ? WANTS : 0) | (frame.closes === null ? 0 : CLOSES));
    view.setUint32(at + 62, frame.closes ?? 0);
    view.setUint32(at + 66, used.length);
    for (let nth = 0, time = at + LENGTHS[REPORT]; nth < used.length; nth++, time += TIME_BYTES)
      view.setFloat64(time, used[nth]!);
  }

  answer({ verdict, id, remaining, resetMs, calls, money }: AnswerFrame): void {
    const at = this.#begin(ANSWER);
    const view = this.#view;
    view.setUint8(at + 1, VERDICTS.indexOf(verdict));
    view.setUint32(at + 2, id);
    view.setUint32(at + 6, remaining);
    view.setUint32(at + 10, resetMs);
    view.setUint32(at + 14, calls);
    view.setBigInt64(at + 18, money);
  }

  grant({ ref, remaining, calls, money }: GrantFrame): void {
    const at = this.#begin(GRANT);
    const view = this.#view;
    view.setUint32(at + 1, ref);
    view.setUint32(at + 5, remaining);
    view.setUint32(at + 9, calls);
    view.setBigInt64(at + 13, money);
  }

  recall(ref: number): void {
    const at = this.#begin(RECALL);
    this.#view.setUint32(at + 1, ref);
  }

  words(words: unknown): void {
    this.text(textOf(words));
  }

  /** The same of words that several readers get. */
  text(text: Buffer): void {
    const at = this.#begin(WORDS, text.length);
    this.#view.setUint32(at + 1, text.length);
    text.copy(this.#bytes, at + LENGTHS[WORDS]);
  }

  /** Sends the gathered frames now. */
  flush(): void {
    clearTimeout(this.#reportsDue);
    this.#reportsDue = undefined;
    if (this.#end === 0) return;
    this.gathering?.onFlush();
    const said = this.#bytes.subarray(0, this.#end);
    // As much again fits next time.
    this.#size = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, 2 * this.#end));
    this.#bytes = Buffer.alloc(0);
    this.#end = 0;
    if (this.stream.writable) this.stream.write(said);
  }

  #begin(kind: keyof typeof LENGTHS & number, more = 0): number {
    const length = LENGTHS[kind]! + more;
    if (this.#end + length > this.#bytes.length) {
      this.flush();
      this.#bytes = Buffer.allocUnsafe(Math.max(this.#size, length));
      this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    }
    if (kind === REPORT) this.#reportsDue ??= setTimeout(() => this.flush(), REPORTS_WAIT_MS);
    else if (!this.#due) {
      this.#due = true;
      setImmediate(() => {
        this.#due = false;
        if (!this.gathering?.waits()) this.flush();
      });
    }
    const at = this.#end;
    this.#bytes[at] = kind;
    this.#end += length;
    return at;
  }
}
