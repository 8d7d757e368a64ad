import { type TextPlace, textBytes } from '../usage/generated-text.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** A longer text is worth the full check. */
const LONGEST_TEXT_BYTES = 4_096;

/**
 * The layout of a checked chunk: the bytes before and after its generated text. Nodes write all chunks of a stream
 * alike. A chunk with the same bytes around another JSON string has the same members, so it needs no second check.
 */
export class ChunkLayout {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  readonly #newHead: Buffer | undefined;
  readonly #newTail: Buffer | undefined;

  /**
   * @param event The original event.
   * @param text The position of the generated text in it.
   * @param rebuilt The event to send instead, if it was changed.
   * @param otherBytes Bytes of generated text besides the one that varies.
   * @param dropped Number of dropped members.
   */
  constructor(
    event: Buffer,
    text: Pick<TextPlace, 'start' | 'end'>,
    rebuilt: { event: Buffer; start: number; end: number } | undefined,
    readonly otherBytes: number,
    readonly dropped: number,
  ) {
    // Copies: a slice would keep the whole read that it was found in.
    this.#head = Buffer.from(event.subarray(0, text.start + 1));
    this.#tail = Buffer.from(event.subarray(text.end - 1));
    if (!rebuilt) return;
    this.#newHead = Buffer.from(rebuilt.event.subarray(0, rebuilt.start + 1));
    this.#newTail = Buffer.from(rebuilt.event.subarray(rebuilt.end - 1));
  }

  /** Bytes of generated text in an event with this layout; -1 when its layout differs. */
  textBytes(event: Buffer): number {
    const start = this.#head.length;
    const end = event.length - this.#tail.length;
    if (end < start || end - start > LONGEST_TEXT_BYTES) return -1;
    if (event.compare(this.#tail, 0, this.#tail.length, end) !== 0) return -1;
    if (event.compare(this.#head, 0, start, 0, start) !== 0) return -1;
    let escaped = false;
    let at = start;
    for (; at < end; at++) {
      let byte = event[at]!;
      if (byte === BACKSLASH) {
        escaped = true;
        byte = event[++at]!;
        if (byte < SPACE) return -1;
      } else if (byte === QUOTE || byte < SPACE) return -1;
    }
    // The last escape reached into the tail: its quote doesn't end the string.
    if (at !== end) return -1;
    return textBytes(event, start - 1, end + 1, escaped);
  }

  /** The event to send for one with this layout. */
  rebuild(event: Buffer): Buffer {
    if (!this.#newHead || !this.#newTail) return event;
    const text = event.subarray(this.#head.length, event.length - this.#tail.length);
    return Buffer.concat([this.#newHead, text, this.#newTail]);
  }
}
