import { findMembers, type Member, replaceValues } from '../lib/json-scan.js';
import { PlainEvents } from './plain-event.js';

/** An event or line larger than this is no chunk of a model's answer (RELIABILITY.md F7). */
const MAX_EVENT_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DATA = Buffer.from('data:');
const DONE = '[DONE]';
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const MEMBERS = ['model', 'error'];
const ERROR_KEY = Buffer.from('"error"');

/** The node sent what is no answer; nothing of it may go on. */
export class UpstreamGarbage extends Error {
  override name = 'UpstreamGarbage';
}

/** The answer, or a piece of it, is larger than what is taken: who asked for that much has caused it. */
export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/** The value of `model` as JSON bytes. */
export const modelValue = (publicName: string): Buffer => Buffer.from(JSON.stringify(publicName));

/** Takes an object that carries an error and gives what goes on in its place; or throws, and nothing goes on. */
export type ErrorSink = (payload: Buffer) => Buffer;

/**
 * A JSON object with its top-level `model` replaced; every other byte stays. One that carries an error goes to `onError`.
 * @throws UpstreamGarbage when the bytes are no JSON object.
 */
export function restampJson(body: Buffer, model: Buffer, onError: ErrorSink): Buffer {
  const found = namesIn(body);
  return found === 'error' ? onError(body) : replaceValues(body, found, model);
}

/** The members that name the model; `error` when the object carries one. @throws UpstreamGarbage */
function namesIn(body: Buffer): Member[] | 'error' {
  const members = findMembers(body, MEMBERS);
  if (!members) throw new UpstreamGarbage('not a JSON object');
  return namesAmong(body, members);
}

/** The same of an object whose members are known. */
export function namesAmong(body: Buffer, members: readonly Member[]): Member[] | 'error' {
  const carriesError = members.some(
    ({ key, valueStart, end }) => key === 'error' && body.toString('latin1', valueStart, end) !== 'null',
  );
  return carriesError ? 'error' : members.filter(({ key }) => key === 'model');
}

/** Start of the payload when the line is a `data:` line, else -1. */
function payloadStart(line: Buffer): number {
  if (line.length < DATA.length || line.compare(DATA, 0, DATA.length, 0, DATA.length) !== 0) return -1;
  return line[DATA.length] === 0x20 ? DATA.length + 1 : DATA.length;
}

/** Length of a line without its terminator. */
function contentLength(line: Buffer): number {
  let length = line.length;
  if (line[length - 1] === NEWLINE) length--;
  if (line[length - 1] === CARRIAGE_RETURN) length--;
  return length;
}

/**
 * Restamps `model` in every event of an SSE stream, for any split of its bytes. Comments, other fields, `[DONE]` and
 * line ends stay as they come. An event leaves when its blank line has arrived; one that carries an error goes to
 * `onError` first.
 */
export class SseRestamper {
  private readonly model: Buffer;
  /** Pieces of the line that isn't complete yet. */
  private partial: Buffer[] = [];
  /** Complete lines of the event that isn't complete yet. */
  private lines: Buffer[] = [];
  private heldBytes = 0;
  private first = true;
  private done = false;
  /** Known once an event has been read in full. */
  private plain: PlainEvents | undefined;

  constructor(
    publicName: string,
    private readonly onError: ErrorSink,
  ) {
    this.model = modelValue(publicName);
  }

  /** Whether `[DONE]` has come: without it a stream has broken off, however cleanly it closed. */
  get complete(): boolean {
    return this.done;
  }

  /** What may leave now, in pieces, perhaps none. @throws UpstreamGarbage, AnswerTooLarge */
  push(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    const mayBePlain = !chunk.includes(ERROR_KEY);
    let from = 0;
    for (;;) {
      if (mayBePlain && this.plain && this.heldBytes === 0) {
        const next = this.plain.take(chunk, from, out, MAX_EVENT_BYTES);
        if (next >= 0) {
          from = next;
          continue;
        }
      }
      const newline = chunk.indexOf(NEWLINE, from);
      if (newline < 0) break;
      this.takeLine(chunk.subarray(from, newline + 1), out);
      from = newline + 1;
    }
    if (from < chunk.length) {
      this.partial.push(chunk.subarray(from));
      this.hold(chunk.length - from);
    }
    return out;
  }

  /** What is left when the stream has ended. @throws UpstreamGarbage when it ended within an event's JSON. */
  end(): Buffer[] {
    const out: Buffer[] = [];
    if (this.partial.length > 0) {
      this.lines.push(Buffer.concat(this.partial));
      this.partial = [];
    }
    this.flushEvent(out);
    return out;
  }

  private hold(bytes: number): void {
    this.heldBytes += bytes;
    if (this.heldBytes > MAX_EVENT_BYTES) throw new AnswerTooLarge('an event of more than 1 MiB');
  }

  private takeLine(piece: Buffer, out: Buffer[]): void {
    this.hold(piece.length);
    const line = this.partial.length > 0 ? Buffer.concat([...this.partial, piece]) : piece;
    if (this.partial.length > 0) this.partial = [];
    this.lines.push(line);
    if (contentLength(line) === 0) this.flushEvent(out);
  }

  private flushEvent(out: Buffer[]): void {
    const lines = this.lines;
    this.lines = [];
    this.heldBytes = 0;
    if (this.first && lines[0]?.subarray(0, BOM.length).equals(BOM)) {
      out.push(BOM);
      lines[0] = lines[0].subarray(BOM.length);
    }
    if (lines.length > 0) this.first = false;
    const data = lines.filter((line) => payloadStart(line) >= 0);
    if (data.length === 0) out.push(...lines);
    else if (data.length === 1) this.stampSingle(lines, data[0]!, out);
    else this.stampFolded(lines, data, out);
  }

  private stampSingle(lines: Buffer[], data: Buffer, out: Buffer[]): void {
    for (const line of lines) {
      if (line !== data) {
        out.push(line);
        continue;
      }
      const start = payloadStart(line);
      const end = contentLength(line);
      out.push(line.subarray(0, start), this.stamp(line.subarray(start, end)), line.subarray(end));
    }
  }

  /** One JSON text folded over several data lines: it comes out folded where it was. */
  private stampFolded(lines: Buffer[], data: Buffer[], out: Buffer[]): void {
    const newline = Buffer.from('\n');
    const pieces = data.flatMap((line) => [line.subarray(payloadStart(line), contentLength(line)), newline]);
    const stamped = this.stamp(Buffer.concat(pieces.slice(0, -1)));
    const ending = data[0]!.subarray(contentLength(data[0]!));
    for (const line of lines) {
      if (!data.includes(line)) out.push(line);
      else if (line === data[0]) {
        for (const piece of stamped.toString('utf8').split('\n')) {
          out.push(Buffer.from(`data: ${piece}`), ending);
        }
      }
    }
  }

  private stamp(payload: Buffer): Buffer {
    if (payload.length <= DONE.length + 2 && payload.toString('latin1').trim() === DONE) {
      this.done = true;
      return payload;
    }
    if (payload.length === 0) return payload;
    const found = namesIn(payload);
    if (found === 'error') return this.onError(payload);
    const [name] = found;
    if (name && found.length === 1) this.learn(payload, name);
    return replaceValues(payload, found, this.model);
  }

  private learn(payload: Buffer, { start, valueStart, end }: Member): void {
    this.plain ??= new PlainEvents(
      payload.subarray(start, end),
      Buffer.concat([payload.subarray(start, valueStart), this.model]),
    );
  }
}
