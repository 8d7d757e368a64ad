import { AppError } from '../../errors.js';
import type { CallInput } from '../../inference/call.js';
import type { Recipient } from '../../inference/relay/recipient.js';
import { toldNames } from '../../inference/request/body-fields.js';
import { createWholeCheck, type InspectedBody } from '../../inference/request/request-body.js';
import type { Clock } from '../../lib/clock.js';
import { placeOf, plainWords } from '../../lib/field-issues.js';
import { hasMoreValues } from '../../lib/json-values.js';
import { inCallersNames } from './callers-names.js';
import { chatRequest } from './chat-request.js';
import { responsesRequest, SILENT } from './request-schema.js';
import { echoOf, responseTexts } from './response-object.js';
import { ResponsesRecipient } from './responses-recipient.js';

/** Larger requests are refused: parsing happens in one go, which must not keep other calls waiting. */
const MAX_BYTES = 1024 * 1024;
/** Likewise: a megabyte of short values takes many times as long as one of text. */
const MAX_VALUES = 32_768;
/** Events of a stream that carry the whole response: `response.created`, `response.in_progress` and the last one. */
const WHOLE_EVENTS = 3;

/** A request of the Responses API as the chat call that it becomes. */
export interface Translated {
  /** The chat request. */
  chat: Buffer;
  /** Bytes that the answer repeats of the request, in memory until the caller has read them. */
  echoedBytes: number;
  /** What the inspection says about the chat request, in the names of the request that the caller sent as `body`. */
  inCallersNames(error: unknown, body: Buffer): unknown;
  /** The inspected chat request, with the names of the members that the translation dropped. */
  withDropped(body: InspectedBody): InspectedBody;
  /** A recipient that translates the answer for the caller. */
  recipient(inner: Recipient, input: CallInput): Recipient;
}

/** @throws AppError `invalid_body`, `body_too_large` */
export type Translate = (body: Buffer) => Translated;

/** Makes the translator of `POST /v1/responses`. It is loaded only if RESPONSES_API is set (docs/decisions/0152-responses.md). */
export function createTranslate(clock: Clock): Translate {
  return (body) => {
    if (body.length > MAX_BYTES) {
      const message =
        'A request to /v1/responses has at most 1 MiB. Use /v1/chat/completions for larger ones.';
      throw new AppError('body_too_large', { message });
    }
    const given = parse(body);
    const checked = responsesRequest.safeParse(given);
    if (!checked.success) throw refusal(checked.error.issues[0] as Issue);
    const request = checked.data;
    const dropped = Object.keys(given).filter(
      (name) => !(name in responsesRequest.shape) && !SILENT.has(name),
    );
    const chat = chatRequest(request);
    if (chat.messages.length === 0) throw refused('input', 'must have at least one message');
    const echo = JSON.stringify(echoOf(request));
    return {
      chat: Buffer.from(JSON.stringify(chat)),
      inCallersNames,
      echoedBytes: Buffer.byteLength(echo) * (request.stream ? WHOLE_EVENTS : 1),
      withDropped: (inspected) =>
        dropped.length === 0 ? inspected : { ...inspected, dropped: toldNames(dropped) },
      recipient(inner, { id, admission }) {
        const responseOf = responseTexts(echo, id, Math.floor(clock.now() / 1000));
        return new ResponsesRecipient(inner, responseOf, {
          requestId: id,
          model: admission.model.publicName,
        });
      },
    };
  };
}

/** The chat request is checked like any other, but what is parsed first must be sound by itself. */
const checkWhole = createWholeCheck(Object.keys(responsesRequest.shape));

function parse(body: Buffer): Record<string, unknown> {
  checkWhole(body);
  if (hasMoreValues(body, MAX_VALUES)) {
    const message = `A request to /v1/responses has at most ${MAX_VALUES.toLocaleString('en')} values. Use /v1/chat/completions for larger ones.`;
    throw new AppError('invalid_body', { message });
  }
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    throw new AppError('invalid_body', { message: 'The body is not valid JSON.' });
  }
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  /** For a value that matches none of several forms: the issues of each. */
  errors?: Issue[][];
}

/** The most deeply nested issue: among several forms, it belongs to the one that was meant. */
function deepest(issue: Issue): Issue {
  const found = (issue.errors ?? [])
    .flat()
    .map((error) => deepest({ ...error, path: [...issue.path, ...error.path] }));
  return found.reduce((best, one) => (one.path.length > best.path.length ? one : best), issue);
}

function refusal(issue: Issue): AppError {
  const { path, message } = deepest(issue);
  const param = placeOf(path);
  const words = plainWords(message);
  return refused(param, /^(?:must|is) /.test(words) ? words : `is not valid: ${words}`);
}

const refused = (param: string, words: string): AppError =>
  new AppError('invalid_body', { message: `"${param}" ${words}.`, param });
