import { type TextPlace, textBytes } from '../upstream/generated-text.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** A longer text is worth the full check. */
const LONGEST_TEXT_BYTES = 4_096;

/**
 * How a checked chunk is laid out: what stands before its generated text and what behind it. Nodes write all chunks of
 * a stream alike, so that one with the same bytes around another text needs no second look: where both are strings of
 * JSON, all else is what was checked.
 */
export class ChunkLayout {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  readonly #newHead: Buffer | undefined;
  readonly #newTail: Buffer | undefined;

  /**
   * @param event The event as it came, and where its text stands in it.
   * @param rebuilt The event as it goes on, where that is another one.
   * @param otherBytes Bytes of generated texts around the one that changes.
   * @param dropped Members that don't go on.
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

  /** Bytes of the generated text of an event that is laid out like this; -1 when it isn't. */
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
    // An escape that reaches into the tail would take its quote away.
    if (at !== end) return -1;
    return textBytes(event, start - 1, end + 1, escaped);
  }

  /** What goes on of an event that is laid out like this. */
  rebuild(event: Buffer): Buffer {
    if (!this.#newHead || !this.#newTail) return event;
    const text = event.subarray(this.#head.length, event.length - this.#tail.length);
    return Buffer.concat([this.#newHead, text, this.#newTail]);
  }
}
