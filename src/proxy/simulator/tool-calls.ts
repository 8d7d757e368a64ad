import type { Chance } from './random.js';
import type { ChatBody, ChatRequest } from './requests.js';
import { valueFor } from './schema-value.js';
import { pieces, topicsOf } from './text.js';
import { calledInTurn, latestResult } from './turn.js';

/** Decides which tools an answer calls, and with which arguments. */

/** Maximum calls that a question can cause by naming tools. */
const MAX_NAMED = 8;

export interface ToolCall {
  id: string;
  name: string;
  /** The arguments, split as they are streamed; at least one piece. */
  pieces: string[];
}

type Tool = Extract<NonNullable<ChatBody['tools']>[number], { type: 'function' }>;

/** Tools whose names are in the question, or else the first tool. */
function namedTools(tools: Tool[], question: string, parallel: boolean): Tool[] {
  const words = new Set(question.match(/[\w-]+/g));
  const named = tools.filter((tool) => words.has(tool.function.name)).slice(0, parallel ? MAX_NAMED : 1);
  return named.length > 0 ? named : tools.slice(0, 1);
}

/**
 * The functions that may be called, and whether one must be. Custom tools are accepted but never called, since they have no schema
 * for their input.
 */
function offered({ tools, tool_choice: choice }: ChatBody): { functions: Tool[]; must: boolean } {
  const functions = (tools ?? []).filter((tool) => tool.type === 'function');
  if (typeof choice !== 'object' || choice === null)
    return { functions: choice === 'none' ? [] : functions, must: choice === 'required' };
  switch (choice.type) {
    case 'function': {
      const named = functions.find((tool) => tool.function.name === choice.function.name);
      return { functions: named ? [named] : functions.slice(0, 1), must: true };
    }
    case 'allowed_tools': {
      const { mode, tools: allowed } = choice.allowed_tools;
      const names = new Set(allowed.map((tool) => tool.function?.name));
      return {
        functions: functions.filter((tool) => names.has(tool.function.name)),
        must: mode === 'required',
      };
    }
    default:
      return { functions: [], must: false };
  }
}

/** The tools that were called least in this turn, so that an agent that must call a tool reaches the one that ends its work. */
function leastCalled(tools: Tool[], messages: ChatBody['messages']): Tool[] {
  const called = calledInTurn(messages);
  const times = tools.map((tool) => called.filter((name) => name === tool.function.name).length);
  const least = Math.min(...times);
  return tools.filter((_tool, index) => times[index] === least);
}

/** The tools to call, by `tool_choice` and the names in the question. After a tool's result none is called unless one must be. */
function chosenTools({ body, question, controls }: ChatRequest): Tool[] {
  const { functions, must } = offered(body);
  if (functions.length === 0 || (!must && latestResult(body.messages))) return [];
  const parallel = body.parallel_tool_calls !== false;
  const chosen = namedTools(must ? leastCalled(functions, body.messages) : functions, question, parallel);
  const count = controls.calls ?? chosen.length;
  return Array.from({ length: parallel ? count : 1 }, (_, index) => chosen[index % chosen.length]!);
}

/** Generates calls with arguments that fit the tools' schemas. They share the limits of one answer. */
export function toolCalls(request: ChatRequest, chance: Chance): ToolCall[] {
  const topics = topicsOf(request.question);
  const tools = chosenTools(request);
  // Also drawn for answers without a call, so that their texts stay the same as in earlier versions.
  const first = chance.hex(24);
  return tools.map(({ function: { name, parameters } }, index) => {
    const id = `call_${index === 0 ? first : chance.hex(24)}`;
    const value = valueFor(parameters ?? {}, chance, topics, tools.length) ?? {};
    return { id, name, pieces: pieces(JSON.stringify(value)) };
  });
}
