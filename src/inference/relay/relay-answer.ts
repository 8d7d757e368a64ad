import type { AppError } from '../../errors.js';
import type { JsonReader } from '../../lib/json-reader.js';
import type { MessageMask } from '../../lib/message-mask.js';
import type { DroppedKind } from '../call-metrics.js';
import type { UpstreamFailure } from './upstream-failure.js';

/** How long a stream may be silent before its caller gets a comment. */
export interface SilenceBounds {
  /** From the call until its answer begins. */
  firstCommentMs: number;
  /** From then on, and after each comment. */
  nextCommentMs: number;
}

/** How the answer's body is handled: whole JSON or a stream. */
export interface RelayAnswer {
  /** Whether anything but comments came with what it took last. */
  readonly movedOn: boolean;
  /** Takes the next bytes; false: pause the upstream until the client has read. */
  data(chunk: Buffer): boolean;
  /** The upstream ended as it should. */
  end(): void;
  /** Called every `elapsedMs` until the call is settled: sends a comment if the caller has got nothing for too long. */
  look?(elapsedMs: number, bounds: SilenceBounds): void;
  /** Tells a failure in the middle; false: nothing has left yet, so that it can be a plain error answer. */
  fail(failure: UpstreamFailure): boolean;
  /** The client left: settles by what it had received. `over`: nothing more is needed from the upstream. */
  clientGone(over: () => void): void;
}

/** What the answers ask of the relay. */
export interface RelayContext {
  readonly requestId: string;
  readonly mask: MessageMask;
  /** The public name that served, from what the upstream's answer says. */
  servedModel(name: string): string;
  /** Counts what is dropped from the upstream's answer. */
  dropped(kind: DroppedKind, count: number): void;
  /** Ends the call with a failure of the upstream. */
  fail(failure: UpstreamFailure): void;
  /** Counts bytes of an answer that stay in memory until it has left; false: there is no room, and the call has failed. */
  keep(bytes: number): boolean;
  /** Gives back bytes of a large answer. */
  shrink(bytes: number): void;
  readonly json: JsonReader;
  /** Bytes that a large answer may have in addition at the moment. */
  readonly answerRoom: number;
  /** The models that an answer may name. */
  readonly models: ReadonlySet<string>;
  /**
   * Reads a whole answer. It stays in memory until that is done, and the call is charged by what comes of it, even if the client
   * leaves. Fails the call if `read` throws.
   */
  whole(read: () => Promise<void>): void;
  /** Ends the call with one of our errors. */
  refuse(error: AppError): void;
  /** Ends the answer of a call whose event could not be kept. */
  unrecorded(): void;
  /** The whole answer is handed over. */
  sent(): void;
}
