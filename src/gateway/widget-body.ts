import { AppError } from '../errors.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import { type BodyBudget, BodyShare } from '../inference/memory/body-budget.js';
import type { History } from '../inference/widgets/history.js';
import type { WidgetEntry } from '../inference/widgets/widget-cache.js';
import { zodFieldIssues } from '../lib/field-issues.js';
import { jsonAmbiguity } from '../lib/json-ambiguity.js';
import { hasMoreValues } from '../lib/json-values.js';
import type { Pace } from '../lib/pace.js';
import type { Turns, Work } from '../lib/turns.js';
import { type WidgetChatInput, widgetChatInput } from '../services/widgets/widget-chat.inputs.js';
import { inTurn } from './in-turn.js';
import { askForBody } from './request-guard.js';
import { WIDGET_BODY_LIMIT_BYTES } from './route-rules.js';
import { checkAnnounced, requireUnencoded, takeBody } from './take-body.js';
import type { WidgetExchange } from './widget-exchange.js';

/** Longest answer to a visitor, in tokens (CONTRACT.md, "widget limits"). */
const MAX_TOKENS = 1_024;
/** A chat has a few hundred. They, not the bytes, decide how long a body takes to parse. */
const MOST_VALUES = 16_384;

/**
 * Reads the body of a chat. Until its widget is known it counts for the widest network that sends it, since one customer of a
 * hoster has thousands of the narrow ones, and apart from calls: many networks together would leave them little.
 * @throws AppError, CallerGoneError
 */
export function readChatBody(
  exchange: WidgetExchange,
  { strangerBodies, pace, relay }: { strangerBodies: BodyBudget; pace: Pace; relay: { turns: Turns } },
): Promise<Record<string, unknown>> {
  const sender = exchange.networks.at(-1) ?? exchange.address;
  const share = new BodyShare(strangerBodies, sender);
  const options = { share, pace, limitBytes: WIDGET_BODY_LIMIT_BYTES, onLarge: () => undefined };
  return new Promise<Buffer>((resolve, reject) => {
    requireUnencoded(exchange.request);
    checkAnnounced(exchange.request, options);
    askForBody(exchange.request, exchange.response);
    takeBody(exchange, options, (error, body) => {
      if (!body) reject(error ?? new CallerGoneError());
      else resolve(body);
    });
  })
    .then((body) => readInTurn(exchange, relay.turns, sender, parsed(body)))
    .finally(() => share.release());
}

/** A byte order mark stays, and isn't JSON: some readers would skip it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function* parsed(body: Buffer): Work<Record<string, unknown>> {
  if (hasTooManyValues(body)) {
    const message = `The body has more than ${MOST_VALUES.toLocaleString('en')} values.`;
    throw new AppError('invalid_body', { message });
  }
  yield;
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw new AppError('invalid_body', { message: 'The body is not valid JSON.' });
  }
  yield;
  const ambiguity = jsonAmbiguity(text);
  if (ambiguity !== undefined) {
    throw new AppError('invalid_body', { message: `The body is ambiguous: ${ambiguity}.` });
  }
  // What is no object names no widget, which is the first check of a chat (CONTRACT.md, "widget checks").
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function hasTooManyValues(body: Buffer): boolean {
  try {
    return hasMoreValues(body, MOST_VALUES);
  } catch {
    // A text in it doesn't end: the parser says so.
    return false;
  }
}

/** Reads a body by and by, in the turns of `owner`. Of a visitor who leaves meanwhile nothing is kept. */
export function readInTurn<T>(
  { response }: WidgetExchange,
  turns: Turns,
  owner: string,
  work: Work<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    inTurn(turns, owner, response, work, (error, result) => {
      if (result) resolve(result);
      else reject(error as Error);
    });
  });
}

/** @throws AppError `validation_error` */
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

/** The greeting stands before every conversation and was never sent with a code. */
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

/** What is asked upstream: the conversation behind the system prompt. */
export function upstreamBody(
  { row }: WidgetEntry,
  { messages, stream }: WidgetChatInput,
  model: string,
): Buffer {
  const said = messages.map(({ role, content }) => ({ role, content }));
  const system = row.systemPrompt === '' ? [] : [{ role: 'system', content: row.systemPrompt }];
  const body = { model, messages: [...system, ...said], max_tokens: MAX_TOKENS, stream: stream === true };
  return Buffer.from(JSON.stringify(body));
}
