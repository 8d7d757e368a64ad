import type { ServedBy } from '../lib/upstream/served-by.js';

/** Where the answer of a call goes: an HTTP response, or whoever runs the router in process. */
export interface RouterSink {
  /** It left before it had everything. */
  readonly gone: boolean;
  /** Whether an answer has begun, so its status is fixed. */
  readonly begun: boolean;
  /** Called once, if it leaves before it has everything. */
  onLeft(listener: () => void): void;
  /** Called once, when the caller has everything or has left. */
  onOver(listener: () => void): void;
  /** Called when it takes more of a stream, after `send` said that it doesn't. */
  onDrain(listener: () => void): void;
  /** Notes which deployment answers, if it can be named; the last before the answer begins counts. */
  servedBy(deployment: ServedBy | undefined): void;
  /** Sends a whole JSON answer; nothing if it has left. */
  answer(status: number, body: Buffer, retryAfterSeconds?: number): void;
  /** Sends the next bytes of a stream, and its head with the first. False: it takes no more for now. */
  send(pieces: Buffer[]): boolean;
  /** Ends a stream. */
  endStream(): void;
  /** Ends an answer that isn't whole, so that nobody takes it for one. */
  cut(): void;
}
