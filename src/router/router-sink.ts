import type { ServedBy } from '../lib/upstream/served-by.js';

/** Receives the answer of a call: an HTTP response, or a call from this process. */
export interface RouterSink {
  /** Whether the caller left before the answer was complete. */
  readonly gone: boolean;
  /** Whether the answer has begun, so that its status is final. */
  readonly begun: boolean;
  /** Calls `listener` once if the caller leaves before the answer is complete. */
  onLeft(listener: () => void): void;
  /** Calls `listener` once when the caller has the whole answer or has left. */
  onOver(listener: () => void): void;
  /** Calls `listener` when the sink accepts bytes again after `send` returned false. */
  onDrain(listener: () => void): void;
  /** Notes which deployment answers, if it can be named. The last call before the answer begins counts. */
  servedBy(deployment: ServedBy | undefined): void;
  /** Sends a whole JSON answer; does nothing if the caller has left. */
  answer(status: number, body: Buffer, retryAfterSeconds?: number): void;
  /** Sends the next bytes of a stream, with the headers before the first. Returns false if the sink accepts no more for now. */
  send(pieces: Buffer[]): boolean;
  endStream(): void;
  /** Cuts off an incomplete answer, so that nobody takes it for a whole one. */
  cut(): void;
}
