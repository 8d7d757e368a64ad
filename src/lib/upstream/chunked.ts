import { ResponseParseError } from './response-head.js';

/** Each a name, with or without a value. Of other forms readers disagree where the line ends. */
const EXTENSIONS = /^(?:;[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?)*$/;
/** What would tell a length again is no trailer. */
const TRAILER = /^(?!(?:content-length|transfer-encoding):)[!#$%&'*+.^_`|~\w-]+:/i;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const DEL = 0x7f;
const TAB = 0x09;
export const LINE_END_BYTES = '\r\n'.length;
/** Of a chunk's size: four gigabytes. */
const MAX_DIGITS = 8;
/** Of all that isn't body: extensions of sizes, and fields behind the last chunk. */
const MAX_EXTRA_BYTES = 16 * 1024;

type State =
  | 'size'
  | 'extension'
  | 'size-end'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-end'
  | 'done';

/** Takes the chunked coding off a body, however its bytes are cut. */
export class ChunkedDecoder {
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extra = 0;
  /** Of the extensions of a size, or of a trailer; an empty one of these ends the body. */
  #line = '';

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Decodes `bytes` from `from` on into `target`, which is as long as they are.
   * @returns How many bytes were read, and how many of the body written. All are read unless the body ends before.
   * @throws ResponseParseError
   */
  decode(bytes: Buffer, from: number, target: Buffer): { read: number; written: number } {
    let at = from;
    let written = 0;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const length = Math.min(this.#size, bytes.length - at);
        bytes.copy(target, written, at, at + length);
        written += length;
        at += length;
        this.#size -= length;
        if (this.#size === 0) this.#state = 'data-cr';
      } else {
        this.#step(bytes[at++]!);
      }
    }
    return { read: at - from, written };
  }

  /**
   * Where the data begins, if `bytes` are one whole chunk without extensions and nothing else, as most reads of a stream are. It
   * ends with the line end behind it. 0: they may be anything.
   */
  wholeChunk(bytes: Buffer): number {
    if (this.#state !== 'size' || this.#digits > 0) return 0;
    let size = 0;
    let at = 0;
    for (; at < MAX_DIGITS && at < bytes.length; at++) {
      const digit = hexDigit(bytes[at]!);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    const start = at + LINE_END_BYTES;
    const end = start + size;
    const isWhole = at > 0 && size > 0 && bytes.length === end + LINE_END_BYTES;
    return isWhole && isLineEnd(bytes, at) && isLineEnd(bytes, end) ? start : 0;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case 'size':
        this.#sizeByte(byte);
        return;
      case 'extension':
        if (byte !== CR) this.#extraByte(byte);
        else if (EXTENSIONS.test(this.#line)) this.#state = 'size-end';
        else throw malformed();
        return;
      case 'size-end':
        expectByte(byte, LF);
        this.#line = '';
        this.#state = this.#size > 0 ? 'data' : 'trailer';
        this.#digits = 0;
        return;
      case 'data-cr':
        expectByte(byte, CR);
        this.#state = 'data-lf';
        return;
      case 'data-lf':
        expectByte(byte, LF);
        this.#state = 'size';
        return;
      case 'trailer':
        if (byte !== CR) this.#extraByte(byte);
        else if (this.#line === '' || TRAILER.test(this.#line)) this.#state = 'trailer-end';
        else throw malformed();
        return;
      case 'trailer-end':
        expectByte(byte, LF);
        this.#state = this.#line === '' ? 'done' : 'trailer';
        this.#line = '';
    }
  }

  #sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_DIGITS) throw malformed();
      this.#size = this.#size * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw malformed();
    if (byte === CR) this.#state = 'size-end';
    else if (byte === SEMICOLON) {
      this.#state = 'extension';
      this.#extraByte(byte);
    } else throw malformed();
  }

  #extraByte(byte: number): void {
    if (isControl(byte) || ++this.#extra > MAX_EXTRA_BYTES) throw malformed();
    this.#line += String.fromCharCode(byte);
  }
}

const malformed = (): ResponseParseError => new ResponseParseError('the chunked encoding is malformed');

function expectByte(byte: number, wanted: number): void {
  if (byte !== wanted) throw malformed();
}

const isControl = (byte: number): boolean => (byte < SPACE && byte !== TAB) || byte === DEL;

const isLineEnd = (bytes: Buffer, at: number): boolean => bytes[at] === CR && bytes[at + 1] === LF;

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
