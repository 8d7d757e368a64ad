import type { UpstreamFailure } from './upstream-failure.js';

/** Where a call's answer goes: an HTTP response of the edge, or a run of the playground. */
export interface ResponseSink {
  /** Whether the sink takes nothing more: the client left, or everything was sent. */
  readonly gone: boolean;
  /** Whether sent bytes wait to be read. Then send no more before `onDrain`. */
  readonly full: boolean;
  /** Called once, when everything was sent or the client left. */
  onClose(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** Sends a whole answer, after `translate`. */
  answer(body: Buffer): void;
  /** Translates a whole answer for the client, before the call is charged. Absent: the client gets the answer itself. */
  translate?(answer: Buffer): Promise<Buffer>;
  /** Sends a failure in place of an answer. */
  refuse(failure: UpstreamFailure): void;
  /** Begins a stream, before the first `send`. */
  startStream(): void;
  send(events: Buffer): void;
  /** Sends the last event of a stream and ends the stream. */
  endStream(event: Buffer): void;
  /** From now on, cuts the client's connection if it reads nothing for too long. */
  awaitReader(): void;
  /**
   * Cuts a client that reads a large answer, sent whole, too slowly. `due` returns the bytes that the client has to read within
   * the stall timeout, if that is more than the minimum rate demands.
   */
  watchReading(due: () => number): void;
  /** Ends the connection. */
  cut(): void;
}
