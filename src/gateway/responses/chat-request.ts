import type { ContentPart, FunctionTool, InputItem, ResponsesRequest } from './request-schema.js';

interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: unknown;
  tool_calls?: unknown[];
  tool_call_id?: string;
}

/** Translates a request of the Responses API to a chat request. Absent members stay absent. */
export function chatRequest(
  request: ResponsesRequest,
): { messages: ChatMessage[] } & Record<string, unknown> {
  const { stream, text, reasoning } = request;
  const members = {
    model: request.model,
    max_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    ...toolMembers(request),
    response_format: responseFormat(request),
    verbosity: text?.verbosity,
    reasoning_effort: reasoning?.effort,
    user: request.user,
    safety_identifier: request.safety_identifier,
    prompt_cache_key: request.prompt_cache_key,
    // The last event of a response includes the usage.
    ...(stream && { stream, stream_options: { include_usage: true } }),
  };
  const present = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(present), messages: messagesOf(request) };
}

/**
 * Without tools, the defaults of `tool_choice` are left out, because nodes refuse them. A choice that demands a call is kept, for the
 * node to refuse.
 */
function toolMembers({ tools, tool_choice: choice, parallel_tool_calls }: ResponsesRequest) {
  const chosen =
    typeof choice === 'object' && choice ? { type: 'function', function: { name: choice.name } } : choice;
  if (tools && tools.length > 0)
    return { tools: tools.map(chatTool), tool_choice: chosen, parallel_tool_calls };
  return { tool_choice: choice === 'auto' || choice === 'none' ? undefined : chosen };
}

const chatTool = ({ name, description, parameters, strict }: FunctionTool) => ({
  type: 'function',
  function: {
    name,
    ...(description && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' && { strict }),
  },
});

function responseFormat({ text }: ResponsesRequest): unknown {
  const format = text?.format;
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { type, name, schema, description, strict } = format;
  return {
    type,
    json_schema: {
      name,
      schema,
      ...(description && { description }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

function messagesOf(request: ResponsesRequest): ChatMessage[] {
  const { input } = request;
  const messages = instructionsOf(request);
  if (typeof input === 'string') messages.push({ role: 'user', content: input });
  else for (const item of input) addItem(messages, item);
  return messages;
}

const instructionsOf = ({ instructions }: ResponsesRequest): ChatMessage[] =>
  instructions ? [{ role: 'system', content: instructions }] : [];

/**
 * For each message of the chat request, the index in `input` of its first item; undefined for the instructions, which come first.
 * Several items of one turn become one message.
 */
export function itemsOfMessages(request: ResponsesRequest): (number | undefined)[] {
  if (typeof request.input === 'string') return [];
  const messages = instructionsOf(request);
  const items: (number | undefined)[] = messages.map(() => undefined);
  for (const [position, item] of request.input.entries()) {
    addItem(messages, item);
    if (messages.length > items.length) items.push(position);
  }
  return items;
}

function addItem(messages: ChatMessage[], item: InputItem): void {
  if (item.type === 'message') {
    // Chat templates of open models don't know the role `developer`.
    const role = item.role === 'developer' ? 'system' : item.role;
    messages.push({ role, content: chatContent(item.content, role === 'user') });
  } else if (item.type === 'function_call') {
    const call = {
      id: item.call_id,
      type: 'function',
      function: { name: item.name, arguments: item.arguments },
    };
    // The text and the calls of one turn are one message.
    const last = messages.at(-1);
    if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    else if (last.tool_calls) last.tool_calls.push(call);
    else last.tool_calls = [call];
  } else if (item.type === 'function_call_output') {
    messages.push({ role: 'tool', tool_call_id: item.call_id, content: chatContent(item.output, false) });
  }
}

/** Only users send more than text. For other roles, whose templates don't support parts, the texts are joined. */
function chatContent(content: string | ContentPart[], hasParts: boolean): unknown {
  if (typeof content === 'string') return content;
  if (hasParts || content.some((part) => textOf(part) === undefined)) return content.map(chatPart);
  return content.map(textOf).join('');
}

function textOf(part: ContentPart): string | undefined {
  if (part.type === 'refusal') return part.refusal;
  return part.type === 'input_text' || part.type === 'output_text' ? part.text : undefined;
}

function chatPart(part: ContentPart): unknown {
  switch (part.type) {
    case 'input_image':
      return {
        type: 'image_url',
        image_url: { url: part.image_url, ...(part.detail && { detail: part.detail }) },
      };
    case 'input_file':
      return {
        type: 'file',
        file: { file_data: part.file_data, ...(part.filename && { filename: part.filename }) },
      };
    case 'input_audio':
      return part;
    default:
      return { type: 'text', text: textOf(part) };
  }
}
