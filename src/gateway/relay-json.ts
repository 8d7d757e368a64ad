import type { ServerResponse } from 'node:http';
import { memberValue, scanMembers } from '../lib/json-scan.js';
import { convertEmbeddings, encodingOf } from '../upstream/embedding-encoding.js';
import { estimateTokens } from '../upstream/usage.js';
import { answerJson } from './answer.js';
import { type AnswerForm, CHAT, EMBEDDINGS } from './answer-forms.js';
import { type AnswerMembers, leftOut, readAnswer, rebuildAnswer, rewrite, textOf } from './answer-members.js';
import type { Call, Success } from './call.js';
import { choicesError } from './choices-error.js';
import type { RelayAnswer, RelayContext } from './relay.js';
import { toldUsage } from './told-usage.js';
import { mapErrorChunk } from './upstream-failure.js';

/** Largest answer that is held back until its event is written. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface Answer {
  body: Buffer;
  /** The same in latin1, where it is there already. */
  text: string | undefined;
  success: Success;
}

class GarbageError extends Error {}

/** The upstream told an error, whatever its status said. */
class ToldError extends Error {
  constructor(readonly payload: Buffer) {
    super();
  }
}

/** A whole JSON answer: kept until its usage event is written, then sent in one write. */
export class JsonAnswer implements RelayAnswer {
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    private readonly context: RelayContext,
    private readonly response: ServerResponse,
    private readonly call: Call,
  ) {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_ANSWER_BYTES) this.context.fail({ code: 'upstream_error', options: {} });
    else if (this.context.keep(chunk.length)) this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    // Until the client has read it, the answer is in memory once.
    this.#chunks = [];
    let answer: Answer;
    try {
      answer = this.call.input.endpoint === 'chat' ? this.#chat(body) : this.#embeddings(body);
    } catch (error) {
      this.context.fail(
        error instanceof ToldError ? mapErrorChunk(error.payload) : { code: 'upstream_error', options: {} },
      );
      return;
    }
    this.call.succeed(answer.success, (error) => {
      if (error) this.context.unrecorded();
      else answerJson(this.response, 200, this.context.headers(), answer.body, answer.text);
      this.context.sent();
    });
  }

  fail(): boolean {
    return false;
  }

  clientGone(): void {
    this.call.fail({ code: 'client_closed_request', httpStatus: 499, clientAborted: true }, () => undefined);
  }

  #chat(body: Buffer): Answer {
    const text = body.toString('latin1');
    const fields = JSON.parse(text) as Record<string, unknown> | null;
    const { members, served } = this.#read(body, CHAT);
    if (!Array.isArray(fields?.choices)) throw new GarbageError();
    const choices: unknown[] = fields.choices;
    const error = choicesError(choices);
    if (error) throw new ToldError(error);
    const checked = this.#checked(body, members, served, fields.usage);
    return {
      body: checked,
      text: checked === body ? text : undefined,
      success: {
        usage: members.usage && fields.usage,
        servedModel: served,
        estimateOutput: () => estimateAnswer(choices),
      },
    };
  }

  #embeddings(body: Buffer): Answer {
    const { members, served } = this.#read(body, EMBEDDINGS);
    const { content } = members;
    if (!content || body[content.valueStart] !== 0x5b) throw new GarbageError();
    const usage = members.usage ? memberValue(body, members.usage) : undefined;
    const checked = this.#checked(body, members, served, usage);
    const wanted = this.call.input.body.encoding;
    const kind = encodingOf(checked);
    return {
      body: kind !== undefined && kind !== wanted ? convertEmbeddings(checked, wanted) : checked,
      text: undefined,
      success: { usage, servedModel: served, estimateOutput: () => 0 },
    };
  }

  /** The members of an answer that pass, and the model that served. */
  #read(body: Buffer, form: AnswerForm): { members: AnswerMembers; served: string } {
    // Schemas and tool results are the model's, which may nest as they like.
    const scanned = scanMembers(body, Number.POSITIVE_INFINITY);
    const members = readAnswer(body, scanned, form, this.context.requestId);
    if (members.isError) throw new ToldError(body);
    const left = leftOut(members);
    if (left > 0) this.context.dropped('member', left);
    const served = this.context.servedModel((members.model && textOf(body, members.model)) ?? '');
    return { members, served };
  }

  /** The answer with what passes and nothing else, under the name of the model that served. */
  #checked(body: Buffer, members: AnswerMembers, served: string, usage: unknown): Buffer {
    if (members.usage) {
      const { valueStart, end } = members.usage;
      const text = body.toString('latin1', valueStart, end);
      const told = toldUsage(text, usage);
      if (told !== text) rewrite(members, members.usage, told);
    }
    const named = members.model === undefined || textOf(body, members.model) === served;
    if (named && leftOut(members) === 0) return body;
    return rebuildAnswer(body, members, served).json;
  }
}

/** Tokens of an answer that reports none: its texts and tool calls, four bytes each. */
function estimateAnswer(choices: unknown[]): number {
  let bytes = 0;
  for (const choice of choices) {
    const message = (choice as { message?: Record<string, unknown> } | null)?.message;
    for (const part of [
      message?.content,
      message?.reasoning_content ?? message?.reasoning,
      message?.tool_calls,
      message?.refusal,
    ]) {
      if (part) bytes += typeof part === 'string' ? part.length : JSON.stringify(part).length;
    }
  }
  return estimateTokens(bytes);
}
