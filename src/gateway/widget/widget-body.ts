import { AppError } from '../../errors.js';
import { type BodyBudget, BodyShare } from '../../inference/memory/body-budget.js';
import type { History } from '../../inference/widgets/history.js';
import type { WidgetEntry } from '../../inference/widgets/widget-cache.js';
import { zodFieldIssues } from '../../lib/field-issues.js';
import type { JsonReader } from '../../lib/json-reader.js';
import { type WidgetChatInput, widgetChatInput } from '../../services/widgets/widget-chat.inputs.js';
import { collectBody, requireUnencoded } from '../collect-body.js';
import { whileOpen } from '../inspect-request.js';
import type { MinimumRate } from '../minimum-rate.js';
import { WIDGET_BODY_LIMIT_BYTES } from '../route-rules.js';
import { READ_CHAT } from './read-chat.js';
import type { WidgetExchange } from './widget-exchange.js';

/** Longest answer to a visitor, in tokens. */
const MAX_TOKENS = 1_024;

/**
 * Reads the body of a chat. Until its widget is known, its memory counts for the sender's widest network, since one customer of a
 * hoster has thousands of narrow ones, and separately from the memory of calls, which many networks together could use up.
 * @throws AppError, CallerGoneError
 */
export async function readChatBody(
  exchange: WidgetExchange,
  {
    strangerBodies,
    minimumUploadRate,
    relay,
  }: { strangerBodies: BodyBudget; minimumUploadRate: MinimumRate; relay: { json: JsonReader } },
): Promise<Record<string, unknown>> {
  requireUnencoded(exchange.request);
  const sender = exchange.networks.at(-1) ?? exchange.address;
  const share = new BodyShare(strangerBodies, sender);
  const options = {
    share,
    minimumRate: minimumUploadRate,
    limitBytes: WIDGET_BODY_LIMIT_BYTES,
    onLarge: () => undefined,
  };
  try {
    const body = await collectBody(exchange, options);
    return await relay.json.read(sender, READ_CHAT, { body }, () => whileOpen(exchange.response));
  } finally {
    share.release();
  }
}

/** Validates a chat and, if the widget wants that, its history. @throws AppError `validation_error` */
export function checkChat(
  body: Record<string, unknown>,
  { row }: WidgetEntry,
  sessionId: string,
  history: History,
): WidgetChatInput {
  const result = widgetChatInput.safeParse(body);
  if (!result.success) throw new AppError('validation_error', { details: zodFieldIssues(result.error) });
  const { data } = result;
  if (row.verifiedHistory) requireGenuine(data, row, data.session_id ?? sessionId, history);
  return data;
}

/** Checks the codes of the assistant's messages. The greeting begins every conversation and has no code. */
function requireGenuine(
  { messages, offset }: WidgetChatInput,
  { id: widgetId, greeting }: WidgetEntry['row'],
  sessionId: string,
  history: History,
): void {
  const details = messages.flatMap(({ role, content, mac }, index) => {
    const position = (offset ?? 0) + index;
    const isKnown =
      role === 'user' ||
      (position === 0 && content === greeting) ||
      history.isGenuine({ widgetId, sessionId, position, content }, mac ?? '');
    return isKnown ? [] : [{ field: `messages.${index}.mac`, message: "doesn't belong to this message" }];
  });
  if (details.length > 0) throw new AppError('validation_error', { details });
}

/** The upstream request: the system prompt, then the conversation. */
export function upstreamBody(
  { row }: WidgetEntry,
  { messages, stream }: WidgetChatInput,
  model: string,
): Buffer {
  const conversation = messages.map(({ role, content }) => ({ role, content }));
  const system = row.systemPrompt === '' ? [] : [{ role: 'system', content: row.systemPrompt }];
  const body = {
    model,
    messages: [...system, ...conversation],
    max_tokens: MAX_TOKENS,
    stream: stream === true,
  };
  return Buffer.from(JSON.stringify(body));
}
