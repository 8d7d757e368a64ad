import { type Chance, chanceOf } from './random.js';
import { type ChatBody, type ChatRequest, checkContext, checkRoom, Refusal, textOf } from './requests.js';
import { valueFor } from './schema-value.js';
import { answerText, pieces, simulatedTokens, topicsOf } from './text.js';
import { type ToolCall, toolCalls } from './tool-calls.js';
import { latestResult } from './turn.js';

/** Decides the answer to a chat call, independent of HTTP. */

const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_CALL = 3;
const TOKENS_PER_TOOL_CALL = 8;
/** Limit for all tokens of an answer and their alternatives. Each needs an object and a hash, made before the first is sent. */
const MAX_LOGPROBS = 20_000;

export interface Choice {
  index: number;
  /** The content, split as it is streamed; empty when tools are called. */
  pieces: string[];
  calls: ToolCall[];
  finish: 'stop' | 'length' | 'tool_calls';
}

export interface SimulatedChat {
  id: string;
  model: string;
  choices: Choice[];
  promptTokens: number;
  completionTokens: number;
  /** Number of alternatives for each token; undefined without log probabilities. */
  topLogprobs: number | undefined;
}

function textFor({ body, controls, question }: ChatRequest, chance: Chance): string {
  const topics = topicsOf(question);
  const format = body.response_format;
  if (format?.type === 'json_schema')
    return JSON.stringify(valueFor(format.json_schema?.schema, chance, topics, body.n ?? 1));
  if (format?.type === 'json_object') {
    return JSON.stringify({ simulated: true, topics, answer: answerText(question, chance, controls.words) });
  }
  const result = latestResult(body.messages);
  if (result) {
    const shown = textOf(result.content).slice(0, 200);
    return `This is a simulated answer. The tool said: ${shown} ${answerText(question, chance, controls.words)}`;
  }
  return answerText(question, chance, controls.words);
}

function beforeStop(text: string, stop: ChatBody['stop']): string {
  const marks = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter(Boolean);
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
  return ends.length > 0 ? text.slice(0, Math.min(...ends)) : text;
}

/** The maximum tokens of a choice; undefined without a limit. */
const tokenLimit = ({ max_completion_tokens: newer, max_tokens: older }: ChatBody): number | undefined =>
  newer ?? older ?? undefined;

function makeChoice(request: ChatRequest, index: number): Choice {
  const { body } = request;
  const seed = typeof body.seed === 'number' ? `seed ${body.seed}\n` : '';
  const chance = chanceOf(`${seed}${index}\n${body.model}\n${request.prompt}`);
  const limit = tokenLimit(body) ?? Number.POSITIVE_INFINITY;
  const calls = toolCalls(request, chance);
  if (calls.length > 0) {
    const { kept, cut } = firstPieces(calls, limit);
    return { index, pieces: [], calls: kept, finish: cut ? 'length' : 'tool_calls' };
  }
  const all = pieces(beforeStop(textFor(request, chance), body.stop));
  const cut = all.length > limit;
  return { index, pieces: cut ? all.slice(0, limit) : all, calls, finish: cut ? 'length' : 'stop' };
}

/** Cuts calls to a limit of tokens. The last one may be incomplete, as from a node that stops in the middle. */
function firstPieces(calls: ToolCall[], limit: number): { kept: ToolCall[]; cut: boolean } {
  let left = limit;
  const kept: ToolCall[] = [];
  for (const call of calls) {
    if (left <= 0) break;
    kept.push({ ...call, pieces: call.pieces.slice(0, left) });
    left -= call.pieces.length;
  }
  return { kept, cut: left < 0 || kept.length < calls.length };
}

/** Tokens of a choice, without those that open a call. */
const generated = ({ pieces: text, calls }: Choice): number =>
  calls.reduce((sum, call) => sum + call.pieces.length, text.length);

function countPrompt({ body, prompt }: ChatRequest): number {
  const tools = body.tools ? simulatedTokens(JSON.stringify(body.tools)) : 0;
  return simulatedTokens(prompt) + body.messages.length * TOKENS_PER_MESSAGE + TOKENS_PER_CALL + tools;
}

/** @throws Refusal */
function checkLogprobs(choices: readonly Choice[], alternatives: number | undefined): void {
  if (alternatives === undefined) return;
  const tokens = choices.reduce((sum, choice) => sum + choice.pieces.length, 0);
  if (tokens * (1 + alternatives) <= MAX_LOGPROBS) return;
  throw new Refusal(
    `The simulator gives at most ${MAX_LOGPROBS} log probabilities in an answer, alternatives included.`,
    'top_logprobs',
  );
}

/**
 * The answer to a chat call. The same call always gets the same answer.
 * @throws Refusal if the prompt and `max_tokens` don't fit into the model's context, or if too many log probabilities are requested
 */
export function answerChat(request: ChatRequest): SimulatedChat {
  const { body, controls, prompt } = request;
  const promptTokens = countPrompt(request);
  checkContext(body.model, promptTokens, 'messages');
  checkRoom(body.model, promptTokens, tokenLimit(body) ?? 0);
  const choices = Array.from({ length: body.n ?? 1 }, (_, index) => makeChoice(request, index));
  const counted = {
    prompt: promptTokens,
    completion: choices.reduce(
      (sum, choice) => sum + generated(choice) + choice.calls.length * TOKENS_PER_TOOL_CALL,
      0,
    ),
  };
  const topLogprobs = body.logprobs === true ? (body.top_logprobs ?? 0) : undefined;
  checkLogprobs(choices, topLogprobs);
  return {
    id: `chatcmpl-sim-${chanceOf(`id\n${body.model}\n${prompt}`).hex(24)}`,
    model: body.model,
    choices,
    promptTokens: controls.tokens?.[0] ?? counted.prompt,
    completionTokens: controls.tokens?.[1] ?? counted.completion,
    topLogprobs,
  };
}
