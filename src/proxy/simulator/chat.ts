import { type Chance, chanceOf } from './random.js';
import { type ChatBody, type ChatRequest, checkContext } from './requests.js';
import { valueFor } from './schema-value.js';
import { answerText, estimateTokens, pieces, topicsOf } from './text.js';

/** Decides the answer of a chat call; knows nothing of HTTP. */

const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_CALL = 3;
const TOKENS_PER_TOOL_CALL = 8;

export interface Choice {
  index: number;
  /** The content, or a tool call's arguments, in the pieces in which it streams. */
  pieces: string[];
  tool: { id: string; name: string } | undefined;
  finish: 'stop' | 'length' | 'tool_calls';
}

export interface Answer {
  id: string;
  model: string;
  choices: Choice[];
  promptTokens: number;
  completionTokens: number;
}

type Tool = NonNullable<ChatBody['tools']>[number];

/** The tool that is called, if any: the first, or the one that is named; none right after a tool's result. */
function chosenTool({ tools, tool_choice: choice, messages }: ChatBody): Tool | undefined {
  if (!tools || tools.length === 0 || choice === 'none') return undefined;
  if (typeof choice === 'object' && choice !== null) {
    return tools.find((tool) => tool.function.name === choice.function.name) ?? tools[0];
  }
  if (choice === 'required') return tools[0];
  return messages.at(-1)?.role === 'tool' ? undefined : tools[0];
}

function textFor({ body, controls, question }: ChatRequest, chance: Chance): string {
  const topics = topicsOf(question);
  const format = body.response_format;
  if (format?.type === 'json_schema')
    return JSON.stringify(valueFor(format.json_schema?.schema, chance, topics));
  if (format?.type === 'json_object') {
    return JSON.stringify({ simulated: true, topics, answer: answerText(question, chance, controls.words) });
  }
  const last = body.messages.at(-1);
  if (last?.role === 'tool' && typeof last.content === 'string') {
    const shown = last.content.slice(0, 200);
    return `This is a simulated answer. The tool said: ${shown} ${answerText(question, chance, controls.words)}`;
  }
  return answerText(question, chance, controls.words);
}

function beforeStop(text: string, stop: ChatBody['stop']): string {
  const marks = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter(Boolean);
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
  return ends.length > 0 ? text.slice(0, Math.min(...ends)) : text;
}

function makeChoice(request: ChatRequest, index: number): Choice {
  const { body, question } = request;
  const chance = chanceOf(`${index}\n${body.model}\n${request.prompt}`);
  const limit = body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY;
  const tool = chosenTool(body);
  const id = `call_${chance.hex(24)}`;
  const whole = tool
    ? JSON.stringify(valueFor(tool.function.parameters ?? {}, chance, topicsOf(question)) ?? {})
    : beforeStop(textFor(request, chance), body.stop);
  const all = pieces(whole);
  const cut = all.length > limit;
  return {
    index,
    pieces: cut ? all.slice(0, limit) : all,
    tool: tool && { id, name: tool.function.name },
    finish: cut ? 'length' : tool ? 'tool_calls' : 'stop',
  };
}

function countPrompt({ body, prompt }: ChatRequest): number {
  const tools = body.tools ? estimateTokens(JSON.stringify(body.tools)) : 0;
  return estimateTokens(prompt) + body.messages.length * TOKENS_PER_MESSAGE + TOKENS_PER_CALL + tools;
}

/**
 * The answer to a chat call; the same call always gets the same one.
 * @throws Refusal when the prompt is longer than the model's context
 */
export function answerChat(request: ChatRequest): Answer {
  const { body, controls, prompt } = request;
  const promptTokens = countPrompt(request);
  checkContext(body.model, promptTokens, 'messages');
  const choices = Array.from({ length: body.n ?? 1 }, (_, index) => makeChoice(request, index));
  const counted = {
    prompt: promptTokens,
    completion: choices.reduce(
      (sum, choice) => sum + choice.pieces.length + (choice.tool ? TOKENS_PER_TOOL_CALL : 0),
      0,
    ),
  };
  return {
    id: `chatcmpl-sim-${chanceOf(`id\n${body.model}\n${prompt}`).hex(24)}`,
    model: body.model,
    choices,
    promptTokens: controls.tokens?.[0] ?? counted.prompt,
    completionTokens: controls.tokens?.[1] ?? counted.completion,
  };
}
