import type { Duplex } from 'node:stream';
import type { Money } from '../../../lib/money.js';

/**
 * What edges of one machine and the process that counts for them say to each other. What each call says has a fixed form;
 * everything rarer is JSON. All that one turn of the event loop has to say leaves in one write. Amounts are 64-bit integers:
 * balances up to $9.2 million.
 */
const VERDICTS = ['ok', 'poor', 'account', 'capped', 'key', 'rate'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** What an edge knows of a payer from the database, with all that it says of one. */
interface Known {
  /** What the payer was introduced as. */
  ref: number;
  /** The UTC day of `spend`, counted from 1970. */
  day: number;
  balance: Money;
  seq: bigint;
  spend: Money;
}

/** May a call begin? */
export interface TakeFrame extends Known {
  /** Requests a minute. */
  limit: number;
  hold: Money;
  cap: Money | null;
}

/** By how much holds and charges that wait for their commit have changed. */
export interface ChangeFrame extends Known {
  holds: Money;
  charges: Money;
}

/** Answers come in the order of the questions. */
export interface AnswerFrame {
  verdict: Verdict;
  remaining: number;
  resetMs: number;
}

export interface FrameReader {
  take?(frame: TakeFrame): void;
  change?(frame: ChangeFrame): void;
  answer?(frame: AnswerFrame): void;
  words(words: unknown): void;
}

const WORDS = 0;
const TAKE = 1;
const CHANGE = 2;
const ANSWER = 3;
/** The head of `WORDS` gives the length of the rest. */
const LENGTHS = [5, 53, 49, 10];
const LEAST_BYTES = 512;
const MOST_BYTES = 64 * 1024;
const MOST = 2n ** 63n - 1n;
const fitting = (amount: Money): Money => (amount > MOST ? MOST : amount < -MOST ? -MOST : amount);

/** When there is no hurry: what has changed can travel with the next question. */
const CHANGES_WAIT_MS = 2;

/** How a writer gathers more than one turn has to say. */
export interface Gathering {
  /** Whether to wait at the end of a turn: whoever says so flushes later. */
  waits(): boolean;
  onFlush(): void;
}

/** Gathers what is to be said, and says it at the end of this turn, or later where `gathering` says so. */
export class FrameWriter {
  #bytes = Buffer.alloc(0);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  #size = LEAST_BYTES;
  #due = false;
  #changesDue: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: Duplex,
    private readonly gathering?: Gathering,
  ) {}

  take({ ref, limit, day, hold, balance, seq, cap, spend }: TakeFrame): void {
    const at = this.#begin(TAKE, LENGTHS[TAKE]!);
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

  change({ ref, day, holds, charges, balance, seq, spend }: ChangeFrame): void {
    const at = this.#begin(CHANGE, LENGTHS[CHANGE]!);
    const view = this.#view;
    view.setUint32(at + 1, ref);
    view.setUint32(at + 5, day);
    view.setBigInt64(at + 9, holds);
    view.setBigInt64(at + 17, charges);
    view.setBigInt64(at + 25, fitting(balance));
    view.setBigInt64(at + 33, seq);
    view.setBigInt64(at + 41, spend);
  }

  answer(verdict: Verdict, remaining: number, resetMs: number): void {
    const at = this.#begin(ANSWER, LENGTHS[ANSWER]!);
    this.#bytes[at + 1] = VERDICTS.indexOf(verdict);
    this.#view.setUint32(at + 2, remaining);
    this.#view.setUint32(at + 6, resetMs);
  }

  words(words: unknown): void {
    const text = Buffer.from(JSON.stringify(words));
    const at = this.#begin(WORDS, LENGTHS[WORDS]! + text.length);
    this.#view.setUint32(at + 1, text.length);
    text.copy(this.#bytes, at + LENGTHS[WORDS]!);
  }

  /** Says now what there is to say. */
  flush(): void {
    clearTimeout(this.#changesDue);
    this.#changesDue = undefined;
    if (this.#end === 0) return;
    this.gathering?.onFlush();
    const said = this.#bytes.subarray(0, this.#end);
    // As much again fits next time.
    this.#size = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, 2 * this.#end));
    this.#bytes = Buffer.alloc(0);
    this.#end = 0;
    if (this.stream.writable) this.stream.write(said);
  }

  #begin(kind: number, length: number): number {
    if (this.#end + length > this.#bytes.length) {
      this.flush();
      this.#bytes = Buffer.allocUnsafe(Math.max(this.#size, length));
      this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    }
    if (kind === CHANGE) this.#changesDue ??= setTimeout(() => this.flush(), CHANGES_WAIT_MS);
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

/** Reads what the other side says. `onRead` is called when all that has come is read. */
export function readFrames(stream: Duplex, reader: FrameReader, onRead?: () => void): void {
  let rest: Buffer | undefined;
  stream.on('data', (chunk: Buffer) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    const read = readAll(bytes, reader);
    rest = read < bytes.length ? bytes.subarray(read) : undefined;
    onRead?.();
  });
}

/** @returns how many bytes were whole frames. */
function readAll(bytes: Buffer, reader: FrameReader): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  while (at < bytes.length) {
    const kind = bytes[at]!;
    let length = LENGTHS[kind]!;
    if (at + length > bytes.length) break;
    if (kind === WORDS) {
      const start = at + length;
      length += view.getUint32(at + 1);
      if (at + length > bytes.length) break;
      reader.words(JSON.parse(bytes.toString('utf8', start, at + length)));
    } else readFixed(view, at, kind, reader);
    at += length;
  }
  return at;
}

function readFixed(view: DataView, at: number, kind: number, reader: FrameReader): void {
  if (kind === ANSWER) {
    const verdict = VERDICTS[view.getUint8(at + 1)]!;
    reader.answer?.({ verdict, remaining: view.getUint32(at + 2), resetMs: view.getUint32(at + 6) });
  } else if (kind === TAKE) {
    const cap = view.getBigInt64(at + 37);
    reader.take?.({
      ref: view.getUint32(at + 1),
      limit: view.getUint32(at + 5),
      day: view.getUint32(at + 9),
      hold: view.getBigInt64(at + 13),
      balance: view.getBigInt64(at + 21),
      seq: view.getBigInt64(at + 29),
      cap: cap < 0n ? null : cap,
      spend: view.getBigInt64(at + 45),
    });
  } else {
    reader.change?.({
      ref: view.getUint32(at + 1),
      day: view.getUint32(at + 5),
      holds: view.getBigInt64(at + 9),
      charges: view.getBigInt64(at + 17),
      balance: view.getBigInt64(at + 25),
      seq: view.getBigInt64(at + 33),
      spend: view.getBigInt64(at + 41),
    });
  }
}
