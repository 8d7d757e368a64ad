import type { ChatBody } from './requests.js';

/**
 * The state of a conversation with tools. A turn begins with a user's message, unless the message directly follows a tool's result:
 * agents add reminders there, and the turn continues.
 */

type Message = ChatBody['messages'][number];

/** The last result of a tool that the assistant hasn't answered yet. */
export function latestResult(messages: readonly Message[]): Message | undefined {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(answered + 1).findLast(({ role }) => role === 'tool');
}

/** Names of the functions that the assistant called in this turn, once for each call. */
export function calledInTurn(messages: readonly Message[]): string[] {
  let called: string[] = [];
  let hasResult = false;
  for (const { role, tool_calls: calls } of messages) {
    if (role === 'assistant') {
      hasResult = false;
      called.push(...(calls ?? []).flatMap((call) => call.function?.name ?? []));
    } else if (role === 'tool') hasResult = true;
    else if (role === 'user' && !hasResult) called = [];
  }
  return called;
}
