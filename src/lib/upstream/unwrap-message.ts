/**
 * Removes what a model proxy wraps around a node's refusal: LiteLLM adds names of its classes, groups and fallbacks, and the node's
 * answer in Python's notation, none of which concerns the caller.
 */

/** `litellm.BadRequestError: `, `Hosted_vllmException - ` or `Error code: 400 - `. */
const PREFIX = /^\s*(?:(?:litellm\.)?[A-Z]\w*(?:Error|Exception)\s*(?::|-)\s*|Error code: \d{3}\s*-\s*)/;
/** Where the proxy's own text begins after the node's. */
const TAIL =
  /Received Model Group=|Available Model Group Fallbacks=|No fallback model group found|LiteLLM Retried:|context_window_fallbacks=/;
/** The argument that LiteLLM adds before its fallbacks. */
const MODEL_ARGUMENT = 'model=';
const MAX_WRAPS = 6;
const MAX_LENGTH = 8_192;
const TRAILING = new Set([' ', '\n', '\t', '.']);

/** The text before the proxy's own text, without the separator. */
function beforeTail(message: string): string {
  const at = message.search(TAIL);
  if (at < 0) return message.trim();
  let end = at;
  const last = message.lastIndexOf(' ', at - 2) + 1;
  if (message[at - 1] === ' ' && message.startsWith(MODEL_ARGUMENT, last)) end = last;
  while (end > 0 && TRAILING.has(message[end - 1]!)) end--;
  return message.slice(0, end).trim();
}

/** The node's message inside a JSON or Python object; undefined if `text` isn't such an object. */
function within(text: string): string | undefined {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as { message?: unknown; error?: { message?: unknown } | string } | null;
    const message =
      typeof value?.error === 'object' ? value.error?.message : (value?.error ?? value?.message);
    return typeof message === 'string' ? message : undefined;
  } catch {
    // Python's repr uses single quotes, unless the text contains some.
    const [, single, double] = /['"]message['"]:\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")/.exec(text) ?? [];
    return single ?? double;
  }
}

/** An error message without a model proxy's additions; undefined if nothing of the node's message is left. */
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
  const own = text
    .split(/(?<=[.!?])\s+/)
    .filter((sentence) => !/litellm/i.test(sentence))
    .join(' ');
  return own === '' ? undefined : own;
}
