import type { UpstreamFailure } from './upstream-failure.js';

/** The recipient of a call's answer: an HTTP response of the edge, or another representative of the caller. */
export interface ResponseSink {
  /** It takes nothing more: it left, or has everything. */
  readonly gone: boolean;
  /** It has read less of a stream than was sent, and wants no more before `onDrain`. */
  readonly full: boolean;
  /** Called once: everything was sent, or it left. */
  onClose(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** Sends a whole answer, translated where that applies. */
  answer(body: Buffer): void;
  /** Makes what the caller gets of a whole answer, before the call is charged; absent: that is the answer itself. */
  translate?(answer: Buffer): Promise<Buffer>;
  /** Sends a failure in place of an answer. */
  refuse(failure: UpstreamFailure): void;
  /** Begins a stream, before its first events are sent. */
  startStream(): void;
  /** Sends events of a stream. */
  send(events: Buffer): void;
  /** Sends the last event of a stream and ends it. */
  endStream(event: Buffer): void;
  /** Cuts a reader of a stream who takes nothing for too long from here on. */
  awaitReader(): void;
  /**
   * Cuts a reader of a large answer, handed over whole, who takes it too slowly. `due` gives the bytes that it has to take within
   * its patience at the moment, if that is more than the least rate.
   */
  watchReading(due: () => number): void;
  /** Ends the connection. */
  cut(): void;
}
