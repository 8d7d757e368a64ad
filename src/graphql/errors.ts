import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { AppError, errorEntry, type FieldIssue } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { toAppError } from '../lib/to-app-error.js';
import { truncateMessage } from '../lib/truncate.js';
import { camelName } from './case.js';
import { valueFaults } from './variable-faults.js';

export interface ErrorFormat {
  log: Logger;
  /** Whether messages may suggest names from the schema. */
  suggestions: boolean;
}

/** GraphQL's own error codes about a document. REST has no equivalent. */
const DOCUMENT_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** Message for operations that may only be sent by POST. */
export const POST_ONLY =
  'Send mutations, and queries with the session cookie, by POST, and subscriptions over WebSocket. Queries with a bearer token or without a session also run by GET.';

/** An error of a document, such as an exceeded limit. */
export const documentError = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } } });

/**
 * The one format of errors, over HTTP and WebSocket. Internal errors become `internal_error` and are logged with
 * their cause. `extensions.code` is REST's code where REST has one.
 */
export function formatGraphqlError(
  error: GraphQLError,
  { log, suggestions }: ErrorFormat,
): GraphQLFormattedError {
  const { locations, path } = error.toJSON();
  const place = { ...(locations && { locations }), ...(path && { path }) };
  const { code } = error.extensions;
  if (typeof code === 'string' && DOCUMENT_CODES.has(code)) {
    const message = suggestions ? error.message : withoutSuggestion(error.message);
    return { message: truncateMessage(message), ...place, extensions: { code } };
  }
  const shown = shownError(error);
  const level = shown.options.quiet ? undefined : errorEntry(shown.code).log;
  if (level)
    log[level]({ err: shown.cause ?? shown, code: shown.code, path: path?.join('.') }, 'operation failed');
  return { message: shown.message, ...place, extensions: extensionsOf(shown) };
}

/** Rounded up, as in the `retry-after` header. */
export const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds));

/** A refusal of values whose details use the caller's field names. */
class ValueRefusal extends AppError {
  constructor(details: FieldIssue[]) {
    super('validation_error', { details });
  }
}

/** The members of an error besides its message. */
function extensionsOf(error: AppError): Record<string, unknown> {
  const { code, options } = error;
  const { details, param, retryAfterSeconds } = options;
  // Variables of a prompt have names chosen by the caller, too.
  const isInOwnWords = error instanceof ValueRefusal || code === 'missing_variables';
  return {
    code,
    ...(param !== undefined && { param: camelName(param) }),
    ...(details && { details: isInOwnWords ? details : details.map(inCamelCase) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: wholeSeconds(retryAfterSeconds) }),
  };
}

/** For fields of the schema, which services name as REST does. */
const inCamelCase = ({ field, message }: FieldIssue): FieldIssue => ({
  field: field === 'body' ? 'input' : camelName(field),
  message,
});

/** Names of the schema are only for those who may read it. */
function withoutSuggestion(message: string): string {
  const at = message.indexOf('Did you mean ');
  return at < 0 ? message : message.slice(0, at).trimEnd();
}

/** The original error: graphql wraps it, sometimes twice. */
function shownError(error: GraphQLError): AppError {
  let cause: Error | undefined = error;
  while (cause instanceof GraphQLError) {
    const refusal = refusalOf(cause);
    if (refusal) return refusal;
    if (!cause.originalError) return new AppError('internal_error', { cause });
    cause = cause.originalError;
  }
  return toAppError(cause);
}

const isOfMethod = ({ http }: GraphQLError['extensions']): boolean =>
  (http as { status?: number } | undefined)?.status === 405;

/** GraphQL's own refusals of values and requests as REST errors. */
function refusalOf(error: GraphQLError): AppError | undefined {
  const { message, extensions } = error;
  const details = valueFaults(error);
  if (details) return new ValueRefusal(details);
  if (extensions.code === 'BAD_REQUEST' && isOfMethod(extensions)) {
    return new AppError('method_not_allowed', { message: POST_ONLY });
  }
  if (extensions.code === 'BAD_REQUEST') {
    return new AppError('invalid_body', { message: truncateMessage(message) });
  }
  return undefined;
}
