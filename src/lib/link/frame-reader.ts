import { FrameError, HEADER_BYTES, MAX_PAYLOAD_BYTES } from './frames.js';

/**
 * Takes a frame. `payload` is a view that holds until the sink returns, unless it is `own`: then the sink may keep it.
 * @throws FrameError to end the link.
 */
export type FrameSink = (kind: number, id: number, payload: Buffer, own: boolean) => void;

const lengthAt = (bytes: Buffer, at: number): number =>
  (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

/** Cuts what was read into frames, however the bytes came. */
export class FrameReader {
  /** The beginning of a frame, of which `#have` bytes are there. It has room for all of it once its length is known. */
  #begun: Buffer | undefined;
  #have = 0;

  constructor(private readonly sink: FrameSink) {}

  /** `bytes` may be overwritten afterwards. @throws FrameError, and what the sink throws */
  read(bytes: Buffer): void {
    let at = this.#begun ? this.#goOn(this.#begun, bytes) : 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = this.#lengthAt(bytes, at);
      const start = at + HEADER_BYTES;
      if (bytes.length - start < length) break;
      at = start + length;
      this.sink(
        bytes[start - HEADER_BYTES]!,
        bytes.readUInt32BE(start - 4),
        bytes.subarray(start, at),
        false,
      );
    }
    if (at < bytes.length) this.#keep(bytes, at);
  }

  /** Checked before a byte of the payload is kept. */
  #lengthAt(bytes: Buffer, at: number): number {
    const length = lengthAt(bytes, at);
    if (length > MAX_PAYLOAD_BYTES) throw new FrameError('a frame that is too long');
    return length;
  }

  #keep(bytes: Buffer, at: number): void {
    this.#have = bytes.length - at;
    const whole = this.#have < HEADER_BYTES ? 0 : this.#lengthAt(bytes, at);
    this.#begun = Buffer.allocUnsafe(HEADER_BYTES + whole);
    bytes.copy(this.#begun, 0, at);
  }

  /** Completes the frame that was begun, if it can; gives how many bytes went into it. */
  #goOn(begun: Buffer, bytes: Buffer): number {
    let frame = begun;
    let read = 0;
    if (this.#have < HEADER_BYTES) {
      read = bytes.copy(frame, this.#have, 0, HEADER_BYTES - this.#have);
      this.#have += read;
      if (this.#have < HEADER_BYTES) return read;
      const header = frame;
      frame = Buffer.allocUnsafe(HEADER_BYTES + this.#lengthAt(header, 0));
      header.copy(frame, 0, 0, HEADER_BYTES);
      this.#begun = frame;
    }
    const more = bytes.copy(frame, this.#have, read);
    this.#have += more;
    if (this.#have === frame.length) {
      this.#begun = undefined;
      this.sink(frame[0]!, frame.readUInt32BE(4), frame.subarray(HEADER_BYTES), true);
    }
    return read + more;
  }
}
