import { type ErrorCode, errorTable } from '../../../errors.js';
import type { ResponseSink } from '../../../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../../../inference/relay/upstream-failure.js';
import { answerTextIn } from '../../../lib/upstream/answer-text.js';
import { eventData } from '../../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../../lib/upstream/sse-splitter.js';

/** Why a call failed, in words for the account. */
export interface RunFailure {
  code: ErrorCode;
  message: string;
}

/** The members of an event that are read. Text that a node puts elsewhere isn't shown. */
interface Chunk {
  choices?: unknown;
  error?: { code: ErrorCode; message: string };
}

interface Choice {
  delta?: unknown;
  finish_reason?: unknown;
}

const LONGEST_FINISH_REASON = 40;

/** Receives the stream of a call and keeps its text, in place of an HTTP response. */
export class RunSink implements ResponseSink {
  gone = false;
  /** Text is accepted as it comes. */
  readonly full = false;
  failure: RunFailure | undefined;
  finishReason: string | null = null;
  readonly #splitter = new SseSplitter();
  readonly #onClose: (() => void)[] = [];

  constructor(private readonly onText: (text: string) => void) {}

  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  onDrain(): void {
    // Never full.
  }

  startStream(): void {
    // There is no head to send.
  }

  send(events: Buffer): void {
    this.#splitter.push(events, (event) => this.#take(event));
  }

  endStream(event: Buffer): void {
    this.send(event);
    this.gone = true;
  }

  refuse({ code, options }: UpstreamFailure): void {
    this.failure = { code, message: options.message ?? errorTable[code].message };
    this.gone = true;
  }

  /** Stops receiving: the upstream call is cut. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    for (const listener of this.#onClose) listener();
  }

  answer(): void {
    this.#unexpected();
  }

  awaitReader(): void {
    // No slow readers here.
  }

  watchReading(): void {
    // No slow readers here.
  }

  cut(): void {
    this.leave();
  }

  /** Runs are always streamed. */
  #unexpected(): never {
    throw new Error('a run got a whole answer in place of a stream');
  }

  #take(event: Buffer): void {
    const data = eventData(event)?.toString('utf8');
    if (data === undefined || data === '[DONE]') return;
    const { error, choices } = parsed(data);
    // One of our errors; those of the node end the call.
    if (error) {
      this.failure = { code: error.code, message: error.message };
      return;
    }
    for (const choice of Array.isArray(choices) ? (choices as (Choice | null)[]) : []) {
      const { text, refusal } = answerTextIn(choice?.delta);
      const reason = choice?.finish_reason;
      if (text !== '' || refusal !== '') this.onText(text + refusal);
      if (typeof reason === 'string') this.finishReason = reason.slice(0, LONGEST_FINISH_REASON);
    }
  }
}

/** Empty for invalid JSON: the relay checks only the members that it knows. */
function parsed(data: string): Chunk {
  try {
    return (JSON.parse(data) ?? {}) as Chunk;
  } catch {
    return {};
  }
}
