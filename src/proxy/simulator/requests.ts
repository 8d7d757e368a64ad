import { z } from 'zod';
import { plainWords } from '../../lib/field-issues.js';
import { ControlError, type Controls, readControls } from './controls.js';
import { DIMENSIONS } from './embedding.js';
import { simulatedTokens } from './text.js';

/** The members of a request that the simulator reads. All others are accepted and ignored, as by a tolerant node. */

/** A refused request: status and error in OpenAI's format. */
export class Refusal extends Error {
  override name = 'Refusal';
  constructor(
    message: string,
    readonly param: string | null = null,
    readonly status = 400,
    readonly code: string | number | null = null,
    readonly type?: string,
  ) {
    super(message);
  }
}

/** Context in tokens, by the model names that proxy.config.yaml gives to the simulator; the same as in the model table. */
const CONTEXTS: ReadonlyMap<string, number> = new Map([
  ['gemma-3-4b', 8_192],
  ['qwen3-8b', 32_768],
  ['qwen3-32b', 32_768],
  ['deepseek-coder-v2', 32_768],
  ['deepseek-r1-distill-32b', 32_768],
  ['nomic-embed-text-v1.5', 8_192],
]);

/** The model's context in tokens; unlimited for other names. */
export const contextOf = (model: string): number => CONTEXTS.get(model) ?? Number.POSITIVE_INFINITY;

/** Refuses a prompt that is longer than the model's context, in OpenAI's words. @throws Refusal */
export function checkContext(model: string, tokens: number, param: 'messages' | 'input'): void {
  const context = contextOf(model);
  if (tokens <= context) return;
  throw new Refusal(
    `This model's maximum context length is ${context} tokens. However, your ${param} resulted in ${tokens} tokens. Please reduce the length of the ${param}.`,
    param,
    400,
    'context_length_exceeded',
  );
}

/** Refuses a `max_tokens` that doesn't fit into the context beside the prompt, in vLLM's words and format. @throws Refusal */
export function checkRoom(model: string, tokens: number, bound: number): void {
  const context = contextOf(model);
  if (tokens + bound <= context) return;
  throw new Refusal(
    `'max_tokens' or 'max_completion_tokens' is too large: ${bound}. This model's maximum context length is ${context} tokens and your request has ${tokens} input tokens (${bound} > ${context} - ${tokens}).`,
    'max_tokens',
    400,
    400,
    'BadRequestError',
  );
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })).nullish(),
});
const tool = z.discriminatedUnion(
  'type',
  [
    z.looseObject({
      type: z.literal('function'),
      function: z.looseObject({ name: z.string().min(1), parameters: z.unknown().optional() }),
    }),
    z.looseObject({ type: z.literal('custom') }),
  ],
  'must be function or custom',
);
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
  z.looseObject({ type: z.literal('custom') }),
  z.looseObject({
    type: z.literal('allowed_tools'),
    allowed_tools: z.looseObject({
      mode: z.enum(['auto', 'required']),
      tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })),
    }),
  }),
]);
const limit = z.number().int().min(1).nullish();
const MAX_TOP_LOGPROBS = 20;

const chatSchema = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().int().min(1).max(128).nullish(),
  max_tokens: limit,
  max_completion_tokens: limit,
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  seed: z.number().int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(MAX_TOP_LOGPROBS).nullish(),
  response_format: z
    .looseObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z.looseObject({ schema: z.unknown() }).optional(),
    })
    .nullish(),
});

const INPUT_WORDS = 'must be a text, texts, tokens or arrays of tokens, none of them empty';
const text = z.string().min(1);
const tokens = z.array(z.number().int().min(0)).min(1);
const embeddingSchema = z.looseObject({
  model: z.string(),
  input: z.union([text, z.array(text).min(1), tokens, z.array(tokens).min(1)], {
    error: ({ input }) => (input === undefined ? 'is required' : INPUT_WORDS),
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).max(DIMENSIONS).nullish(),
});

export type ChatBody = z.infer<typeof chatSchema>;

export interface ChatRequest {
  body: ChatBody;
  controls: Controls;
  /** All messages, without controls. Decides the answer. */
  prompt: string;
  /** Text of the last user message, without controls. */
  question: string;
}

export interface EmbeddingInput {
  /** The text to embed, without controls. */
  text: string;
  /** Number of tokens that are counted for it. */
  tokens: number;
}

export interface EmbeddingRequest {
  model: string;
  inputs: EmbeddingInput[];
  encoding: 'float' | 'base64';
  /** Requested length of the vectors. */
  dimensions: number;
  controls: Controls;
}

/** zod collects an issue for each wrong value; millions of them would block the process for minutes. */
const MAX_VALUES = 50_000;

function hasTooMany(raw: unknown): boolean {
  const open = [raw];
  for (let count = 0; open.length > 0; count++) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    if (count + open.length + inner.length > MAX_VALUES) return true;
    open.push(...inner);
  }
  return false;
}

function parse<T>(schema: z.ZodType<T>, raw: unknown): T {
  if (hasTooMany(raw)) throw new Refusal(`The simulator reads at most ${MAX_VALUES} values of a body.`);
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const path = issue.path.join('.');
  throw new Refusal(`${path || 'The body'} ${plainWords(issue.message)}`, path || null);
}

/** Reads controls if `steered`; otherwise they are text like any other. @throws Refusal */
function controlsOf(text: string, steered: boolean): { controls: Controls; rest: string } {
  if (!steered) return { controls: {}, rest: text };
  try {
    return readControls(text);
  } catch (error) {
    if (error instanceof ControlError) throw new Refusal(error.message);
    throw error;
  }
}

export function textOf(content: ChatBody['messages'][number]['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((item) => item.text ?? '').join('\n');
}

const isEmbeddingModel = (model: string): boolean => model.includes('embed');

/** @throws Refusal */
export function readChat(raw: unknown, steered: boolean): ChatRequest {
  const body = parse(chatSchema, raw);
  if (isEmbeddingModel(body.model))
    throw new Refusal('The model does not support chat completions.', 'model');
  if (typeof body.top_logprobs === 'number' && body.logprobs !== true)
    throw new Refusal('"top_logprobs" requires "logprobs" to be set to true.', 'top_logprobs');
  const texts = body.messages.map(({ content }) => textOf(content));
  const last = body.messages.findLastIndex(({ role }) => role === 'user');
  const { controls, rest } = controlsOf(last < 0 ? '' : texts[last]!, steered);
  if (last >= 0) texts[last] = rest;
  const prompt = body.messages.map(({ role }, index) => `${role}: ${texts[index]}`).join('\n');
  return { body, controls, prompt, question: last < 0 ? (texts.at(-1) ?? '') : rest };
}

/** @throws Refusal */
export function readEmbedding(raw: unknown, steered: boolean): EmbeddingRequest {
  const body = parse(embeddingSchema, raw);
  if (!isEmbeddingModel(body.model)) throw new Refusal('The model does not support embeddings.', 'model');
  const input = (Array.isArray(body.input) ? body.input : [body.input]) as (string | number | number[])[];
  const items = typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[]);
  let controls: Controls = {};
  const inputs = items.map((item) => {
    if (typeof item !== 'string') {
      return { text: item.map((token) => `token${token}`).join(' '), tokens: item.length };
    }
    const { rest, ...found } = controlsOf(item, steered);
    controls = { ...controls, ...found.controls };
    return { text: rest, tokens: Math.max(1, simulatedTokens(rest)) };
  });
  checkContext(body.model, Math.max(...inputs.map(({ tokens }) => tokens)), 'input');
  const encoding = controls.encoding ?? body.encoding_format ?? 'float';
  return { model: body.model, inputs, encoding, dimensions: body.dimensions ?? DIMENSIONS, controls };
}
