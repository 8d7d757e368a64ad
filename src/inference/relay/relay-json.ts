import { AppError } from '../../errors.js';
import { type Member, memberText, memberValue, scanMembers } from '../../lib/json-scan.js';
import { LARGE_ANSWER_BYTES, MAX_ANSWER_BYTES } from '../../lib/upstream/answer-limits.js';
import { choicesError } from '../../lib/upstream/choices-error.js';
import { type Call, CLIENT_LEFT, type Success } from '../call.js';
import { convertEmbeddings, encodingOf } from '../embeddings/embedding-encoding.js';
import { generatedText } from '../usage/generated-text.js';
import { estimateTokens } from '../usage/usage.js';
import { type AnswerForm, CHAT, EMBEDDINGS } from './answer-forms.js';
import {
  GarbageError,
  leftOut,
  passesAsItCame,
  readAnswer,
  rebuildAnswer,
  type SortedAnswer,
  ToldError,
} from './answer-members.js';
import { type LargeAnswer, readLargeAnswer } from './large-answer.js';
import type { Recipient } from './recipient.js';
import type { RelayAnswer, RelayContext } from './relay-answer.js';
import { tellUsage } from './told-usage.js';
import { mapErrorChunk } from './upstream-failure.js';

interface Answer {
  body: Buffer;
  success: Success;
}

/** A whole JSON answer: kept until its usage event is written, then sent in one write. */
export class JsonAnswer implements RelayAnswer {
  readonly movedOn = true;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    private readonly context: RelayContext,
    private readonly recipient: Recipient,
    private readonly call: Call,
  ) {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_ANSWER_BYTES) this.context.fail({ code: 'upstream_error', options: {} });
    else if (this.context.keep(chunk.length)) this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    if (this.#bytes > LARGE_ANSWER_BYTES) {
      this.#endLarge();
      return;
    }
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    // Until the client has read it, the answer is in memory once.
    this.#chunks = [];
    let answer: Answer;
    try {
      answer = this.call.input.endpoint === 'chat' ? this.#chat(body) : this.#embeddings(body);
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.call.succeed(answer.success, (error) => {
      if (error) this.context.unrecorded();
      else this.recipient.answer(answer.body);
      this.context.sent();
    });
  }

  fail(): boolean {
    return false;
  }

  /** Nothing of the answer has left before it is charged: who leaves until then has received nothing. */
  clientGone(over: () => void): void {
    this.call.fail(CLIENT_LEFT, () => undefined);
    over();
  }

  #endLarge(): void {
    const { context } = this;
    const work = readLargeAnswer(this.#chunks, this.#bytes, this.call.input, {
      sort: (body, members, form) => this.#sort(body, members, form),
      grow: (bytes) => context.grow(bytes),
      shrink: (bytes) => context.shrink(bytes),
    });
    context.work(work, (error, answer) => {
      if (answer) this.#sendLarge(answer);
      else this.#failed(error);
    });
  }

  #sendLarge({ parts, success }: LargeAnswer): void {
    if (this.recipient.readAhead?.(parts) === false) {
      this.#failed(new GarbageError());
      return;
    }
    this.call.succeed(success, (error) => {
      if (error) this.context.unrecorded();
      else this.recipient.answerInParts(parts);
      this.context.sent();
    });
  }

  #failed(error: unknown): void {
    if (error instanceof AppError) this.context.refuse(error);
    else if (error instanceof ToldError) this.context.fail(mapErrorChunk(error.payload));
    else this.context.fail({ code: 'upstream_error', options: {} });
  }

  #chat(body: Buffer): Answer {
    const text = body.toString('latin1');
    const fields = JSON.parse(text) as Record<string, unknown> | null;
    const sorted = this.#read(body, CHAT, text);
    if (!Array.isArray(fields?.choices)) throw new GarbageError();
    const choices: unknown[] = fields.choices;
    const error = choicesError(choices);
    if (error) throw new ToldError(error);
    const checked = this.#checked(body, sorted, fields.usage, text);
    const { content } = sorted.members;
    return {
      body: checked,
      success: {
        usage: sorted.members.usage && fields.usage,
        servedModel: sorted.served,
        estimateOutput: () =>
          estimateTokens(content ? generatedText(body, content.valueStart, content.end).bytes : 0),
      },
    };
  }

  #embeddings(body: Buffer): Answer {
    const sorted = this.#read(body, EMBEDDINGS);
    const { content, usage: told } = sorted.members;
    if (!content || body[content.valueStart] !== 0x5b) throw new GarbageError();
    const usage = told && memberValue(body, told);
    const checked = this.#checked(body, sorted, usage);
    const wanted = this.call.input.body.encoding;
    const kind = encodingOf(checked);
    return {
      body: kind !== undefined && kind !== wanted ? convertEmbeddings(checked, wanted) : checked,
      success: { usage, servedModel: sorted.served, estimateOutput: () => 0 },
    };
  }

  /** The members of an answer that pass, and the model that served. */
  #read(body: Buffer, form: AnswerForm, latin1?: string): SortedAnswer {
    // Schemas and tool results are the model's, which may nest as they like.
    return this.#sort(body, scanMembers(body, Number.POSITIVE_INFINITY, latin1), form, latin1);
  }

  #sort(body: Buffer, scanned: Member[], form: AnswerForm, latin1?: string): SortedAnswer {
    const members = readAnswer(body, scanned, form, this.context.requestId);
    if (members.isError) throw new ToldError(body);
    const left = leftOut(members);
    if (left > 0) this.context.dropped('member', left);
    const named = members.model && memberText(body, members.model, latin1);
    return { members, named, served: this.context.servedModel(named ?? '') };
  }

  /** The answer with what passes and nothing else, under the name of the model that served. */
  #checked(body: Buffer, sorted: SortedAnswer, usage: unknown, latin1?: string): Buffer {
    const { members, served } = sorted;
    tellUsage(body, members, usage, latin1);
    return passesAsItCame(sorted) ? body : rebuildAnswer(body, members, served).json;
  }
}
