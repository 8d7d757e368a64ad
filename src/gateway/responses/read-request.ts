import { AppError } from '../../errors.js';
import { type AllowedFields, droppedFieldsHeader } from '../../inference/request/body-fields.js';
import { createWholeCheck } from '../../inference/request/body-object.js';
import type { MediaRules } from '../../inference/request/media-addresses.js';
import type { RequestToRead } from '../../inference/request/read-request.js';
import { type InspectedBody, inspectBody } from '../../inference/request/request-body.js';
import { placeOf, plainWords } from '../../lib/field-issues.js';
import type { JsonJob } from '../../lib/json-reader.js';
import { hasMoreValues } from '../json-values.js';
import { inCallersNames } from './callers-names.js';
import { chatRequest } from './chat-request.js';
import { type ResponsesRequest, responsesRequest, SILENT } from './request-schema.js';
import { echoOf } from './response-object.js';

/** Larger requests are refused, because parsing takes many times their size in memory. */
const MAX_BYTES = 1024 * 1024;
/** Requests with more values are refused, because a megabyte of short values takes many times as long to parse as one of text. */
const MAX_VALUES = 32_768;

/** A request of the Responses API, translated to a chat call. */
export interface ReadResponsesRequest extends InspectedBody {
  /** JSON of the request's members that the response repeats. */
  echo: string;
}

/** Reads a request of the Responses API. @throws AppError `invalid_body`, `body_too_large` */
export const READ_RESPONSES_REQUEST: JsonJob<RequestToRead, ReadResponsesRequest> = {
  name: 'responses-request',
  run: ({ body, allowed, media }) => {
    const given = parse(body);
    const checked = responsesRequest.safeParse(given);
    if (!checked.success) throw refusal(checked.error.issues[0] as Issue);
    const request = checked.data;
    const chat = chatRequest(request);
    if (chat.messages.length === 0) throw refused('input', 'must have at least one message');
    const dropped = Object.keys(given).filter(
      (name) => !(name in responsesRequest.shape) && !SILENT.has(name),
    );
    const inspected = inspectTranslated(request, Buffer.from(JSON.stringify(chat)), allowed, media);
    return {
      ...inspected,
      dropped: dropped.length > 0 ? droppedFieldsHeader(dropped) : inspected.dropped,
      echo: JSON.stringify(echoOf(request)),
    };
  },
};

/** Inspects the chat request; faults are reported in the names that the caller used. */
function inspectTranslated(
  request: ResponsesRequest,
  chat: Buffer,
  allowed: AllowedFields,
  media: MediaRules | undefined,
): InspectedBody {
  try {
    return inspectBody(chat, allowed, media);
  } catch (error) {
    throw inCallersNames(error, request);
  }
}

/** The chat request is checked like any other, but the caller's request is parsed before that and must be unambiguous itself. */
const checkWhole = createWholeCheck(Object.keys(responsesRequest.shape));

function parse(body: Buffer): Record<string, unknown> {
  if (body.length > MAX_BYTES) {
    const message = 'A request to /v1/responses has at most 1 MiB. Use /v1/chat/completions for larger ones.';
    throw new AppError('body_too_large', { message });
  }
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

/** The most deeply nested issue. Of several forms, it most likely belongs to the one that the caller meant. */
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
