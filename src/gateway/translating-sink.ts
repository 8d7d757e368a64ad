import type { ResponseSink } from '../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../inference/relay/upstream-failure.js';

/** A sink that translates the answer and delegates everything else to the inner sink. */
export abstract class TranslatingSink implements ResponseSink {
  constructor(protected readonly inner: ResponseSink) {}

  abstract translate(answer: Buffer): Promise<Buffer>;
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
    this.inner.answer(body);
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

/** Parses an answer or event. Members are optional and unchecked: the relay has checked only those it knows. Invalid JSON gives {}. */
export function parsedAnswer<Shape extends object>(data: Buffer | undefined): Partial<Shape> {
  if (!data) return {};
  try {
    return (JSON.parse(data.toString()) ?? {}) as Partial<Shape>;
  } catch {
    return {};
  }
}
