/**
 * What a model proxy wraps around a node's refusal, taken off again: LiteLLM names its own classes, its groups and
 * fallbacks, and the node's answer as Python shows it. None of that is the caller's business.
 */

/** `litellm.BadRequestError: `, `Hosted_vllmException - `, `Error code: 400 - `, one after the other. */
const PREFIX = /^\s*(?:(?:litellm\.)?[A-Z]\w*(?:Error|Exception)\s*(?::|-)\s*|Error code: \d{3}\s*-\s*)/;
/** Where the proxy's own words begin behind the node's. */
const TAIL =
  /Received Model Group=|Available Model Group Fallbacks=|No fallback model group found|LiteLLM Retried:|context_window_fallbacks=/;
/** The argument that LiteLLM names before its fallbacks. */
const MODEL_ARGUMENT = 'model=';
const MAX_WRAPS = 6;
const MAX_LENGTH = 8_192;
const TRAILING = new Set([' ', '\n', '\t', '.']);

/** The text before the proxy's own words, without what joined the two. */
function beforeTail(message: string): string {
  const at = message.search(TAIL);
  if (at < 0) return message.trim();
  let end = at;
  const last = message.lastIndexOf(' ', at - 2) + 1;
  if (message[at - 1] === ' ' && message.startsWith(MODEL_ARGUMENT, last)) end = last;
  while (end > 0 && TRAILING.has(message[end - 1]!)) end--;
  return message.slice(0, end).trim();
}

/** The node's own words within a JSON or Python object; undefined when it is none. */
function within(text: string): string | undefined {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as { message?: unknown; error?: { message?: unknown } | string } | null;
    const told = typeof value?.error === 'object' ? value.error?.message : (value?.error ?? value?.message);
    return typeof told === 'string' ? told : undefined;
  } catch {
    // Python's repr: single quotes, unless the text has some itself.
    const [, single, double] = /['"]message['"]:\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")/.exec(text) ?? [];
    return single ?? double;
  }
}

/** An error message without what a model proxy put around it; undefined if nothing of the node's is left. */
export function unwrapMessage(message: string): string | undefined {
  let text = beforeTail(message.slice(0, MAX_LENGTH));
  for (let wraps = 0; wraps < MAX_WRAPS; wraps++) {
    const bare = text.replace(PREFIX, '').trim();
    const inner = within(bare) ?? bare;
    if (inner === text) break;
    text = inner.trim();
  }
  // A stringified object reveals more than it explains.
  if (/^[{[]/.test(text)) return undefined;
  const told = text
    .split(/(?<=[.!?])\s+/)
    .filter((sentence) => !/litellm/i.test(sentence))
    .join(' ');
  return told === '' ? undefined : told;
}
