import { partKind } from './content-names.js';

/** Tells parsed bodies of nothing but texts, which need no closer look, from those that may name media. */

const MESSAGE_MEMBERS = new Set([
  ...['role', 'content', 'name', 'tool_call_id', 'tool_calls', 'function_call', 'refusal'],
  ...['reasoning', 'reasoning_content', 'annotations'],
]);
const TEXT_MEMBERS = new Set(['type', 'text', 'refusal', 'thinking', 'signature']);

/** Whether parsed messages hold nothing but texts, and calls of tools: most need no closer look. */
export function arePlain(messages: unknown): boolean {
  return messages === undefined || messages === null || (Array.isArray(messages) && messages.every(isPlain));
}

function isPlain(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  for (const name in message) {
    if (!MESSAGE_MEMBERS.has(name) && (message as Record<string, unknown>)[name] !== null) return false;
  }
  const { content } = message as { content?: unknown };
  if (typeof content !== 'object' || content === null) return true;
  return Array.isArray(content) && content.every(isTextPart);
}

function isTextPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return true;
  for (const name in part) {
    if (!TEXT_MEMBERS.has(name) || typeof (part as Record<string, unknown>)[name] !== 'string') return false;
  }
  const { type } = part as { type?: string };
  return type !== undefined && partKind(type) === 0;
}

/** Whether the parsed `input` of embeddings holds nothing but texts and tokens. */
export function isPlainInput(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return true;
  return Array.isArray(input) && input.every((one) => typeof one !== 'object' || isPlainInput(one));
}
