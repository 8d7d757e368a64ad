import type { Recipient } from '../inference/relay/recipient.js';
import type { UpstreamFailure } from '../inference/relay/upstream-failure.js';

/** A recipient that translates the answer and delegates everything else to the inner recipient. */
export abstract class TranslatingRecipient implements Recipient {
  /** A large answer that was read ahead. */
  #ahead: object | undefined;

  constructor(protected readonly inner: Recipient) {}

  /** What the caller gets in place of a whole answer. */
  protected abstract translated(answer: object): Buffer;
  abstract send(events: Buffer): void;
  abstract endStream(event: Buffer): void;

  get gone(): boolean {
    return this.inner.gone;
  }

  get full(): boolean {
    return this.inner.full;
  }

  onClose(listener: () => void): void {
    this.inner.onClose(listener);
  }

  onDrain(listener: () => void): void {
    this.inner.onDrain(listener);
  }

  answer(body: Buffer): void {
    this.inner.answer(this.translated(parsedAnswer(body)));
  }

  readAhead(parts: readonly Buffer[]): boolean {
    this.#ahead = parsed(Buffer.concat(parts));
    return this.#ahead !== undefined;
  }

  answerInParts(): void {
    this.inner.answer(this.translated(this.#ahead ?? {}));
  }

  refuse(failure: UpstreamFailure): void {
    this.inner.refuse(failure);
  }

  startStream(): void {
    this.inner.startStream();
  }

  awaitReader(): void {
    this.inner.awaitReader();
  }

  watchReading(due: () => number): void {
    this.inner.watchReading(due);
  }

  cut(): void {
    this.inner.cut();
  }
}

/** What an answer or an event says. The relay has looked at the members that it knows and not at all of it. */
export function parsedAnswer<Shape extends object>(data: Buffer | undefined): Partial<Shape> {
  return ((data && parsed(data)) ?? {}) as Partial<Shape>;
}

/** Undefined for what isn't JSON. */
function parsed(data: Buffer): object | undefined {
  try {
    return (JSON.parse(data.toString()) ?? {}) as object;
  } catch {
    return undefined;
  }
}
