import { MAX_ANSWER_BYTES } from '../../lib/upstream/answer-limits.js';
import { type Call, CLIENT_LEFT } from '../call.js';
import { noRoom } from '../memory/body-budget.js';
import { READ_ANSWER } from './read-answer.js';
import type { RelayAnswer, RelayContext } from './relay-answer.js';
import type { ResponseSink } from './response-sink.js';
import { mapErrorChunk } from './upstream-failure.js';

/** A whole JSON answer: kept in memory until its usage event is written, then sent in one write. */
export class JsonAnswer implements RelayAnswer {
  readonly movedOn = true;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    private readonly context: RelayContext,
    private readonly sink: ResponseSink,
    private readonly call: Call,
  ) {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_ANSWER_BYTES) this.context.fail({ code: 'upstream_error', options: {} });
    else if (this.context.keep(chunk.length)) this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
    // So that the answer is in memory only once.
    this.#chunks = [];
    this.context.whole(() => this.#read(body));
  }

  fail(): boolean {
    return false;
  }

  /** Nothing is sent before the call is charged, so a client that leaves before that has received nothing. */
  clientGone(over: () => void): void {
    this.call.fail(CLIENT_LEFT, () => undefined);
    over();
  }

  async #read(body: Buffer): Promise<void> {
    const { context, sink, call } = this;
    const { id, endpoint, payer, admission, body: request } = call.input;
    const answer = await context.json.read(payer.account.id, READ_ANSWER, {
      body,
      endpoint,
      encoding: request.encoding,
      inputs: request.inputs,
      callId: id,
      model: admission.model.publicName,
      models: context.models,
      mostBytes: this.#bytes + Math.max(0, context.answerRoom),
    });
    if (call.settled) return;
    if (answer.kind === 'error') {
      context.fail(mapErrorChunk(answer.body, context.mask));
      return;
    }
    if (answer.kind === 'malformed') {
      context.fail({ code: 'upstream_error', options: {} });
      return;
    }
    if (answer.kind === 'too_large') throw noRoom();
    if (answer.dropped > 0) context.dropped('member', answer.dropped);
    const sent = sink.translate ? await sink.translate(answer.body) : answer.body;
    if (call.settled || !this.#keep(sent.length)) return;
    const { usage, servedModel, outputTokens } = answer;
    call.succeed({ usage, servedModel, estimateOutput: () => outputTokens }, (error) => {
      if (error) context.unrecorded();
      else sink.answer(sent);
      context.sent();
    });
  }

  /** Adjusts the reserved memory to the bytes to send. False: there is no room for them. */
  #keep(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more > 0) return this.context.keep(more);
    this.context.shrink(-more);
    return true;
  }
}
