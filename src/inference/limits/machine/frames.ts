import type { Duplex } from 'node:stream';
import type { Money } from '../../../lib/money.js';

/**
 * Messages between the edges of one machine and the process that counts for them. Those about calls have a fixed form;
 * everything rarer is JSON. Amounts are 64-bit integers: balances up to $9.2 million.
 */

/**
 * What both sides have to agree on: raise it with every change of a message. A restarted edge is started from the files of the
 * moment, which may be a later build than the process that counts.
 */
export const LINE_VERSION = 3;

export const VERDICTS = ['ok', 'poor', 'account', 'capped', 'key', 'rate', 'later', 'unknown'] as const;
/**
 * `later`: other edges are asked first to give back what they may give out; the decision follows under the same id.
 * `unknown`: one of them didn't answer.
 */
export type Verdict = (typeof VERDICTS)[number];

/** What an edge knows of a payer from the database, with all that it says of one. */
interface Known {
  /** What the payer was introduced as. */
  ref: number;
  /** The UTC day of `spend` and of charges, counted from 1970. */
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

/** What has changed at an edge since it last said so. */
export interface ReportFrame extends Known {
  /** By how much holds and charges that wait for their commit have changed. */
  holds: Money;
  charges: Money;
  /** By how much less may be given out without asking: what was taken or is given back. */
  money: Money;
  /** How many calls are given back. */
  calls: number;
  /** When calls were admitted without asking, in milliseconds. */
  used: readonly number[];
  /** Asks for more of it. */
  wants: boolean;
  /** Everything is reported, and the lease of that many grants is given back; null: it isn't. */
  closes: number | null;
}

/** What an edge may admit without asking, beyond what it may already. */
export interface Grant {
  calls: number;
  money: Money;
}

/** Answers come in the order of the questions, but for decisions that follow `later`: those have the id of that answer. */
export interface AnswerFrame extends Grant {
  /** 0: nothing follows, and nothing went before. */
  id: number;
  verdict: Verdict;
  remaining: number;
  resetMs: number;
}

/** The answer to an edge that wants more. */
export interface GrantFrame extends Grant {
  ref: number;
  remaining: number;
}

export interface FrameReader {
  take?(frame: TakeFrame): void;
  report?(frame: ReportFrame): void;
  answer?(frame: AnswerFrame): void;
  grant?(frame: GrantFrame): void;
  /** Asks the edge to report everything and to give back its lease. */
  recall?(ref: number): void;
  words(words: unknown): void;
}

export const WORDS = 0;
export const TAKE = 1;
export const REPORT = 2;
export const ANSWER = 3;
export const GRANT = 4;
export const RECALL = 5;
/** Without what follows `WORDS` and `REPORT`: their heads end with the length of a text, or the number of times. */
export const LENGTHS = [5, 53, 70, 26, 21, 5] as const;
export const TIME_BYTES = 8;
/** Flags of a report. */
export const WANTS = 1;
export const CLOSES = 2;

/** Reads the frames of the other side. `onRead` is called when all received frames are read. */
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
    const head = LENGTHS[kind]!;
    if (at + head > bytes.length) break;
    let end = at + head;
    if (kind === WORDS) end += view.getUint32(end - 4);
    else if (kind === REPORT) end += TIME_BYTES * view.getUint32(end - 4);
    if (end > bytes.length) break;
    if (kind === WORDS) reader.words(JSON.parse(bytes.toString('utf8', at + head, end)));
    else if (kind === TAKE) reader.take?.(readTake(view, at + 1));
    else if (kind === REPORT) reader.report?.(readReport(view, at + 1, at + head, end));
    else readAnswer(view, at, kind, reader);
    at = end;
  }
  return at;
}

function readTake(view: DataView, at: number): TakeFrame {
  const cap = view.getBigInt64(at + 36);
  return {
    ref: view.getUint32(at),
    limit: view.getUint32(at + 4),
    day: view.getUint32(at + 8),
    hold: view.getBigInt64(at + 12),
    balance: view.getBigInt64(at + 20),
    seq: view.getBigInt64(at + 28),
    cap: cap < 0n ? null : cap,
    spend: view.getBigInt64(at + 44),
  };
}

function readReport(view: DataView, at: number, times: number, end: number): ReportFrame {
  const used: number[] = [];
  const flags = view.getUint8(at + 60);
  for (let time = times; time < end; time += TIME_BYTES) used.push(view.getFloat64(time));
  return {
    ref: view.getUint32(at),
    day: view.getUint32(at + 4),
    holds: view.getBigInt64(at + 8),
    charges: view.getBigInt64(at + 16),
    balance: view.getBigInt64(at + 24),
    seq: view.getBigInt64(at + 32),
    spend: view.getBigInt64(at + 40),
    money: view.getBigInt64(at + 48),
    calls: view.getUint32(at + 56),
    closes: (flags & CLOSES) === 0 ? null : view.getUint32(at + 61),
    wants: (flags & WANTS) !== 0,
    used,
  };
}

function readAnswer(view: DataView, at: number, kind: number, reader: FrameReader): void {
  if (kind === ANSWER) {
    reader.answer?.({
      verdict: VERDICTS[view.getUint8(at + 1)]!,
      id: view.getUint32(at + 2),
      remaining: view.getUint32(at + 6),
      resetMs: view.getUint32(at + 10),
      calls: view.getUint32(at + 14),
      money: view.getBigInt64(at + 18),
    });
  } else if (kind === GRANT) {
    reader.grant?.({
      ref: view.getUint32(at + 1),
      remaining: view.getUint32(at + 5),
      calls: view.getUint32(at + 9),
      money: view.getBigInt64(at + 13),
    });
  } else {
    reader.recall?.(view.getUint32(at + 1));
  }
}
