import type { ServerResponse } from 'node:http';
import { memberValue, scanMembers } from '../lib/json-scan.js';
import { convertEmbeddings, encodingOf } from '../upstream/embedding-encoding.js';
import { estimateTokens } from '../upstream/usage.js';
import { answerJson } from './answer.js';
import {
  type AnswerMembers,
  CHAT_MEMBERS,
  EMBEDDINGS_MEMBERS,
  type KnownMembers,
  readAnswer,
  rebuildAnswer,
  textOf,
} from './answer-members.js';
import { type Call, CLIENT_LEFT, type Success } from './call.js';
import type { RelayAnswer, RelayContext } from './relay.js';
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
class ToldError extends Error {}

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
        error instanceof ToldError ? mapErrorChunk(body) : { code: 'upstream_error', options: {} },
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

  /** Nothing of the answer has left before it is charged: who leaves until then has received nothing. */
  clientGone(over: () => void): void {
    this.call.fail(CLIENT_LEFT, () => undefined);
    over();
  }

  #chat(body: Buffer): Answer {
    const text = body.toString('latin1');
    const fields = JSON.parse(text) as Record<string, unknown> | null;
    const { members, served, checked } = this.#read(body, CHAT_MEMBERS);
    if (!Array.isArray(fields?.choices)) throw new GarbageError();
    const choices: unknown[] = fields.choices;
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
    const { members, served, checked } = this.#read(body, EMBEDDINGS_MEMBERS);
    const { content, usage } = members;
    if (!content || body[content.valueStart] !== 0x5b) throw new GarbageError();
    const wanted = this.call.input.body.encoding;
    const kind = encodingOf(checked);
    return {
      body: kind !== undefined && kind !== wanted ? convertEmbeddings(checked, wanted) : checked,
      text: undefined,
      success: {
        usage: usage ? memberValue(body, usage) : undefined,
        servedModel: served,
        estimateOutput: () => 0,
      },
    };
  }

  /** The known members of an answer, the model that served, and the answer with nothing else and under that name. */
  #read(body: Buffer, known: KnownMembers): { members: AnswerMembers; served: string; checked: Buffer } {
    // Schemas and tool results are the model's, which may nest as they like.
    const members = readAnswer(body, scanMembers(body, Number.POSITIVE_INFINITY), known);
    if (members.isError) throw new ToldError();
    const name = members.model && textOf(body, members.model);
    const served = this.context.servedModel(name ?? '');
    if (members.dropped > 0) this.context.dropped('member', members.dropped);
    const asItCame = members.dropped === 0 && (!members.model || served === name);
    return { members, served, checked: asItCame ? body : rebuildAnswer(body, members, served).json };
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
