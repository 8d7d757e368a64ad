import { type ErrorCode, errorTable } from '../../../errors.js';
import type { ResponseSink } from '../../../inference/relay/response-sink.js';
import type { UpstreamFailure } from '../../../inference/relay/upstream-failure.js';
import { answerTextIn } from '../../../lib/upstream/answer-text.js';
import { eventData } from '../../../lib/upstream/sse-event.js';
import { SseSplitter } from '../../../lib/upstream/sse-splitter.js';

/** What a call failed with, in words for the account. */
export interface RunFailure {
  code: ErrorCode;
  message: string;
}

/** What is read of an event. What a node puts in other places is not shown. */
interface Chunk {
  choices?: unknown;
  error?: { code: ErrorCode; message: string };
}

interface Choice {
  delta?: unknown;
  finish_reason?: unknown;
}

const LONGEST_FINISH_REASON = 40;

/** Takes the stream of a call and keeps its text: what an HTTP response is to a call of `/v1`. */
export class RunSink implements ResponseSink {
  gone = false;
  /** Text is taken as it comes. */
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
    // It is never full.
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

  /** Wants nothing more: the call's upstream is cut. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    for (const listener of this.#onClose) listener();
  }

  answer(): void {
    this.#unexpected();
  }

  awaitReader(): void {
    // Nobody reads slowly here.
  }

  watchReading(): void {
    // Nobody reads slowly here.
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
    // One of ours: those of the node end the call.
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

/** The relay looks at the members that it knows and not at all that stands in a chunk. */
function parsed(data: string): Chunk {
  try {
    return (JSON.parse(data) ?? {}) as Chunk;
  } catch {
    return {};
  }
}
