import { EventLayout } from '../../lib/upstream/event-layout.js';
import { type TextPlace, textBytes } from '../usage/generated-text.js';

/** The layout of a checked chunk: the bytes around its generated text. A chunk with the same layout needs no second check. */
export class ChunkLayout extends EventLayout {
  readonly #newHead: Buffer | undefined;
  readonly #newTail: Buffer | undefined;

  /**
   * @param event The original event.
   * @param text The position of the generated text in the event.
   * @param rebuilt The event to send instead, if the check changed it.
   * @param otherBytes Bytes of generated text besides the text that varies.
   * @param dropped Number of dropped members.
   */
  constructor(
    event: Buffer,
    text: Pick<TextPlace, 'start' | 'end'>,
    rebuilt: { event: Buffer; start: number; end: number } | undefined,
    readonly otherBytes: number,
    readonly dropped: number,
  ) {
    super(event, text);
    if (!rebuilt) return;
    this.#newHead = Buffer.from(rebuilt.event.subarray(0, rebuilt.start + 1));
    this.#newTail = Buffer.from(rebuilt.event.subarray(rebuilt.end - 1));
  }

  /** Bytes of generated text in an event with this layout; -1 if the layout differs. */
  textBytes(event: Buffer): number {
    const form = this.textForm(event);
    if (!form) return -1;
    return textBytes(event, this.headBytes - 1, event.length - this.tailBytes + 1, form === 'escaped');
  }

  /** The event to send for an event with this layout. */
  rebuild(event: Buffer): Buffer {
    if (!this.#newHead || !this.#newTail) return event;
    const text = event.subarray(this.headBytes, event.length - this.tailBytes);
    return Buffer.concat([this.#newHead, text, this.#newTail]);
  }
}
