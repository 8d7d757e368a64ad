import type { Choice, SimulatedChat } from './chat.js';
import type { Controls, UsageMode } from './controls.js';
import { embed, toBase64 } from './embedding.js';
import { chanceOf } from './random.js';
import type { EmbeddingRequest } from './requests.js';
import type { ToolCall } from './tool-calls.js';

/** The simulator's answers as JSON, in OpenAI's format. */

/** Part of every answer, so that no one takes the simulator for a model. */
export const FINGERPRINT = 'simulator-1';
const NAN_MARK = '@NaN@';
const HUGE = 1e18;

/** JSON, but with `NaN` for not-a-number, as Python writes it. */
export const toJson = (value: unknown): string => JSON.stringify(value).replaceAll(`"${NAN_MARK}"`, 'NaN');

/** A usage block as a correct or a faulty node reports it; undefined if it reports none. */
export function usageBlock(prompt: number, completion: number | undefined, mode?: UsageMode): unknown {
  const shaped = (value: number): unknown => {
    if (mode === 'zero') return 0;
    if (mode === 'negative') return -1 - value;
    if (mode === 'nan') return NAN_MARK;
    if (mode === 'string') return String(value);
    return mode === 'huge' ? HUGE : value;
  };
  if (mode === 'none') return undefined;
  return {
    prompt_tokens: shaped(prompt),
    ...(completion === undefined ? {} : { completion_tokens: shaped(completion) }),
    total_tokens: shaped(prompt + (completion ?? 0)),
  };
}

/** Each next alternative is less likely by this much. */
const LOGPROB_STEP = 0.75;
const MAX_LOGPROB = -0.05;

const logprobEntry = (token: string, logprob: number) => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
});

function tokenLogprob(token: string, alternatives: number) {
  const chance = chanceOf(`logprob\n${token}`);
  const logprob = MAX_LOGPROB - chance.next();
  // The token itself is the likeliest; the others are its text with letters of the hash.
  const top = Array.from({ length: alternatives }, (_, rank) =>
    logprobEntry(rank === 0 ? token : `${token}${chance.hex(2)}`, logprob - rank * LOGPROB_STEP),
  );
  return { ...logprobEntry(token, logprob), top_logprobs: top };
}

/**
 * Plausible log probabilities of tokens, always the same for the same token; null if none are requested. `alternatives` is the
 * number of the likeliest tokens listed for each, including itself.
 */
function logprobsOf(tokens: readonly string[], alternatives: number | undefined): object | null {
  if (alternatives === undefined) return null;
  return { content: tokens.map((token) => tokenLogprob(token, alternatives)), refusal: null };
}

const callOf = ({ id, name }: ToolCall, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

function messageOf({ pieces, calls }: Choice) {
  if (calls.length === 0) return { role: 'assistant', content: pieces.join(''), refusal: null };
  const made = calls.map((call) => callOf(call, call.pieces.join('')));
  return { role: 'assistant', content: null, refusal: null, tool_calls: made };
}

export function chatBody(answer: SimulatedChat, created: number, usage: UsageMode | undefined) {
  return {
    id: answer.id,
    object: 'chat.completion',
    created,
    model: answer.model,
    system_fingerprint: FINGERPRINT,
    choices: answer.choices.map((choice) => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: choice.calls.length > 0 ? null : logprobsOf(choice.pieces, answer.topLogprobs),
      finish_reason: choice.finish,
    })),
    usage: usageBlock(answer.promptTokens, answer.completionTokens, usage),
  };
}

export interface StreamEvent {
  json: string;
  /** Whether the event has a token; controls count these. */
  token: boolean;
  /** Whether a step of generation begins with this event. */
  step?: boolean;
}

function firstDelta({ calls: [first] }: Choice) {
  if (!first) return { role: 'assistant', content: '' };
  return { role: 'assistant', content: null, tool_calls: [{ index: 0, ...callOf(first, '') }] };
}

/** A token of a stream: its text and its delta. */
interface Token {
  piece: string;
  delta: unknown;
}

/** The tokens after a choice's first delta, call by call. The first token of a later call also opens that call. */
function tokensOf({ pieces, calls }: Choice): Token[] {
  if (calls.length === 0) return pieces.map((piece) => ({ piece, delta: { content: piece } }));
  return calls.flatMap((call, index) =>
    call.pieces.map((piece, nth) => {
      const opens = index > 0 && nth === 0;
      const part = opens ? callOf(call, piece) : { function: { arguments: piece } };
      return { piece, delta: { tool_calls: [{ index, ...part }] } };
    }),
  );
}

/** The chunks of a stream, with choices interleaved; without `[DONE]`. */
export function* chatEvents(
  answer: SimulatedChat,
  created: number,
  includeUsage: boolean,
  { usage: mode }: Controls,
): Generator<StreamEvent> {
  const { id, model, choices, promptTokens, completionTokens } = answer;
  let sent = 0;
  const chunk = (picked: unknown[], usage?: unknown): string =>
    toJson({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      system_fingerprint: FINGERPRINT,
      choices: picked,
      usage,
    });
  const running = () => (mode === 'continuous' ? usageBlock(promptTokens, sent) : undefined);
  const delta = (
    { index }: Choice,
    content: unknown,
    finish: string | null = null,
    logprobs: unknown = null,
  ) => ({
    index,
    delta: content,
    logprobs,
    finish_reason: finish,
  });
  const tokens = choices.map(tokensOf);
  const longest = Math.max(...tokens.map(({ length }) => length));

  for (const choice of choices) {
    yield { json: chunk([delta(choice, firstDelta(choice))], running()), token: false };
  }
  for (let turn = 0; turn < longest; turn++) {
    // Nodes generate choices in parallel: a step is one token of each.
    let step = true;
    for (const [at, choice] of choices.entries()) {
      const token = tokens[at]![turn];
      if (token === undefined) continue;
      sent++;
      const logprobs = choice.calls.length > 0 ? null : logprobsOf([token.piece], answer.topLogprobs);
      yield { json: chunk([delta(choice, token.delta, null, logprobs)], running()), token: true, step };
      step = false;
    }
  }
  for (const choice of choices) {
    const last = choice === choices.at(-1) && mode === 'with_choices';
    const usage = last ? usageBlock(promptTokens, completionTokens) : running();
    yield { json: chunk([delta(choice, {}, choice.finish)], usage), token: false };
  }
  if (includeUsage && mode !== 'none' && mode !== 'with_choices') {
    yield { json: chunk([], usageBlock(promptTokens, completionTokens, mode)), token: false };
  }
}

/**
 * The answer to an embeddings call as JSON, vector by vector. Thousands of vectors take seconds and many megabytes, so the sender can
 * let other work run in between and keep only a few in memory.
 */
export function* embeddingJson(request: EmbeddingRequest): Generator<string> {
  const { inputs, encoding, dimensions, controls } = request;
  const counted = inputs.reduce((sum, { tokens }) => sum + tokens, 0);
  const rest = toJson({
    object: 'list',
    model: request.model,
    system_fingerprint: FINGERPRINT,
    usage: usageBlock(controls.tokens?.[0] ?? counted, undefined, controls.usage),
  });
  yield `${rest.slice(0, -1)},"data":[`;
  for (const [index, { text }] of inputs.entries()) {
    const vector = embed(text, dimensions);
    const embedding = encoding === 'base64' ? toBase64(vector) : Array.from(vector);
    yield `${index > 0 ? ',' : ''}${JSON.stringify({ object: 'embedding', index, embedding })}`;
  }
  yield ']}';
}
