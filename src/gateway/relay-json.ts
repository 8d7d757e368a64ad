import type { ServerResponse } from 'node:http';
import { memberValue, replaceValue, scanMembers } from '../lib/json-scan.js';
import { convertEmbeddings, encodingOf } from '../upstream/embedding-encoding.js';
import { estimateTokens } from '../upstream/usage.js';
import { answerJson } from './answer.js';
import type { Call, Success } from './call.js';
import type { RelayAnswer, RelayContext } from './relay.js';

/** Largest answer that is held back until its event is written. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Answers may nest deeper than requests: schemas and tool results are the model's. */
const MAX_ANSWER_DEPTH = 512;

interface Answer {
  body: Buffer;
  /** The same in latin1, where it is there already. */
  text: string | undefined;
  success: Success;
}

/** Only these differ between latin1 and UTF-8. */
const NON_ASCII = /[\x80-\xff]/;

class GarbageError extends Error {}

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
    } catch {
      this.context.fail({ code: 'upstream_error', options: {} });
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
    if (!Array.isArray(fields?.choices)) throw new GarbageError();
    const choices: unknown[] = fields.choices;
    const name = typeof fields.model === 'string' ? fields.model : '';
    const model = NON_ASCII.test(name) ? Buffer.from(name, 'latin1').toString() : name;
    const served = this.context.servedModel(model);
    return {
      body: served === model ? body : restamp(body, served),
      text: served === model ? text : undefined,
      success: {
        usage: fields.usage,
        servedModel: served,
        estimateOutput: () => estimateAnswer(choices),
      },
    };
  }

  #embeddings(body: Buffer): Answer {
    const members = new Map(scanMembers(body, MAX_ANSWER_DEPTH).map((member) => [member.key, member]));
    const data = members.get('data');
    if (!data || body[data.valueStart] !== 0x5b) throw new GarbageError();
    const model = members.get('model');
    const name = model ? memberValue(body, model) : '';
    const served = this.context.servedModel(typeof name === 'string' ? name : '');
    const usage = members.get('usage');
    const wanted = this.call.input.body.encoding;
    const stamped = served === name ? body : restamp(body, served);
    const kind = encodingOf(stamped);
    return {
      body: kind !== undefined && kind !== wanted ? convertEmbeddings(stamped, wanted) : stamped,
      text: undefined,
      success: {
        usage: usage ? memberValue(body, usage) : undefined,
        servedModel: served,
        estimateOutput: () => 0,
      },
    };
  }
}

function restamp(body: Buffer, model: string): Buffer {
  const member = scanMembers(body, MAX_ANSWER_DEPTH).find(({ key }) => key === 'model');
  return member ? replaceValue(body, member, model) : body;
}

/** Tokens of an answer that reports none: its texts and tool calls, four bytes each. */
function estimateAnswer(choices: unknown[]): number {
  let bytes = 0;
  for (const choice of choices) {
    const message = (choice as { message?: Record<string, unknown> } | null)?.message;
    for (const part of [
      message?.content,
      message?.reasoning_content,
      message?.tool_calls,
      message?.refusal,
    ]) {
      if (part) bytes += typeof part === 'string' ? part.length : JSON.stringify(part).length;
    }
  }
  return estimateTokens(bytes);
}
