import type { JsonJob } from '../../lib/json-reader.js';
import { parsedAnswer } from '../translating-sink.js';
import { type ChatOutput, type OutputEvent, OutputState } from './output.js';
import {
  type ChatUsage,
  type Progress,
  type ResponseFrame,
  responseStatus,
  responseTexts,
} from './response-object.js';

/** A chat answer or a chunk of one, as the node sent it: members are unchecked. */
export interface ChatAnswer {
  model?: unknown;
  choices?: ({ message?: ChatOutput | null; delta?: ChatOutput | null; finish_reason?: unknown } | null)[];
  usage?: ChatUsage | null;
  error?: { code?: unknown; message?: unknown; param?: unknown };
}

/** Builds a response from a chat answer or its chunks. */
export class ResponseState {
  readonly #output: OutputState;
  readonly #texts: (progress: Progress) => string;
  #model: string;
  #finish: string | null = null;
  #usage: ChatUsage | null = null;

  constructor(frame: ResponseFrame, emit: (event: OutputEvent) => void) {
    this.#model = frame.model;
    this.#texts = responseTexts(frame);
    this.#output = new OutputState(frame.requestId, emit);
  }

  add({ model, choices, usage }: ChatAnswer): void {
    if (typeof model === 'string') this.#model = model;
    if (usage) this.#usage = usage;
    const choice = choices?.[0];
    if (!choice) return;
    const output = choice.message ?? choice.delta;
    if (output) this.#output.add(output);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
  }

  /** Ends the output. Returns whether the response is complete. */
  end(): 'completed' | 'incomplete' {
    this.#output.end();
    return responseStatus(this.#finish);
  }

  /** The JSON of the response so far. */
  text(status: Progress['status'], error: Progress['error'] = null): string {
    return this.#texts({
      ...{ status, error },
      finish: this.#finish,
      model: this.#model,
      output: this.#output.items,
      usage: this.#usage,
    });
  }
}

/** Translates a whole chat answer. */
export const TRANSLATE_ANSWER: JsonJob<ResponseFrame & { body: Buffer }, { body: Buffer }> = {
  name: 'responses-answer',
  run: ({ body, ...frame }) => {
    const state = new ResponseState(frame, () => undefined);
    state.add(parsedAnswer<ChatAnswer>(body));
    return { body: Buffer.from(state.text(state.end())) };
  },
};
