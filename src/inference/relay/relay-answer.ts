import type { AppError } from '../../errors.js';
import type { JsonReader } from '../../lib/json-reader.js';
import type { MessageMask } from '../../lib/message-mask.js';
import type { DroppedKind } from '../call-metrics.js';
import type { UpstreamFailure } from './upstream-failure.js';

/** How long a stream may be silent before its client gets a comment. */
export interface SilenceBounds {
  /** From the call until the stream begins. */
  firstCommentMs: number;
  /** Within the stream, and after each comment. */
  nextCommentMs: number;
}

/** Handles the body of an answer: a whole JSON body or a stream. */
export interface RelayAnswer {
  /** Whether the last bytes contained anything other than comments. */
  readonly movedOn: boolean;
  /** Takes the next bytes. False: pause the upstream until the client has read. */
  data(chunk: Buffer): boolean;
  /** The upstream has ended its body. */
  end(): void;
  /** Called every `elapsedMs` until the call is settled. Sends a comment if the client has got nothing for too long. */
  look?(elapsedMs: number, bounds: SilenceBounds): void;
  /** Ends a stream with an error event. False: nothing has been sent yet, so that the caller can send a plain error. */
  fail(failure: UpstreamFailure): boolean;
  /** The client left: settles the call by what the client received. `over`: the upstream isn't needed any more. */
  clientGone(over: () => void): void;
}

/** The part of the relay that answers use. */
export interface RelayContext {
  readonly requestId: string;
  readonly mask: MessageMask;
  /** The public name of the model that served, given the name in the upstream's answer. */
  servedModel(name: string): string;
  /** Counts what is dropped from the upstream's answer. */
  dropped(kind: DroppedKind, count: number): void;
  /** Ends the call with a failure of the upstream. */
  fail(failure: UpstreamFailure): void;
  /** Reserves memory for bytes of an answer until it is sent. False: there was no room, and the call has failed. */
  keep(bytes: number): boolean;
  /** Gives back memory of a large answer. */
  shrink(bytes: number): void;
  readonly json: JsonReader;
  /** Bytes by which a large answer may still grow. */
  readonly answerRoom: number;
  /** The public names that an answer may contain as its model. */
  readonly models: ReadonlySet<string>;
  /**
   * Runs `read` on a whole answer. Its memory stays reserved until then, and the call is charged by the result even if the
   * client leaves meanwhile. Fails the call if `read` throws.
   */
  whole(read: () => Promise<void>): void;
  /** Ends the call with one of our errors. */
  refuse(error: AppError): void;
  /** Sends an error in place of the answer, since the call's usage event couldn't be stored. */
  unrecorded(): void;
  /** The whole answer was handed to the sink. */
  sent(): void;
}
