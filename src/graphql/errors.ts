import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { AppError, errorEntry, type FieldIssue } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { withShortNames } from '../lib/shortened.js';
import { toAppError } from '../lib/to-app-error.js';
import { camelName } from './case.js';
import { valueFaults } from './variable-faults.js';

export interface ErrorFormat {
  log: Logger;
  /** Whether messages may suggest names from the schema. */
  suggestions: boolean;
}

/** Codes of GraphQL's own that say something about a document; REST has no such thing. */
const DOCUMENT_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** What runs by POST alone. */
export const POST_ONLY =
  'Send mutations, and queries with the session cookie, by POST, and subscriptions over WebSocket. Queries with a bearer token or without a session also run by GET.';

/** A fault of a document, a limit that it exceeds included. */
export const documentError = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } } });

/**
 * The one shape of an error, over HTTP and WebSocket: what isn't meant for a caller's eyes becomes `internal_error` and
 * is logged with its cause. `extensions.code` is REST's wherever REST has one.
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
    return { message: withShortNames(message), ...place, extensions: { code } };
  }
  const shown = shownError(error);
  const level = shown.options.quiet ? undefined : errorEntry(shown.code).log;
  if (level)
    log[level]({ err: shown.cause ?? shown, code: shown.code, path: path?.join('.') }, 'operation failed');
  return { message: shown.message, ...place, extensions: extensionsOf(shown) };
}

/** As the header says it. */
export const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds));

/** A refusal of values that names their fields as the caller did. */
class ValueRefusal extends AppError {
  constructor(details: FieldIssue[]) {
    super('validation_error', { details });
  }
}

/** What an error says beside its message. */
function extensionsOf(error: AppError): Record<string, unknown> {
  const { code, options } = error;
  const { details, param, retryAfterSeconds } = options;
  // Variables of a prompt have names of the caller's choice, too.
  const isInOwnWords = error instanceof ValueRefusal || code === 'missing_variables';
  return {
    code,
    ...(param !== undefined && { param: camelName(param) }),
    ...(details && { details: isInOwnWords ? details : details.map(inCamelCase) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: wholeSeconds(retryAfterSeconds) }),
  };
}

/** Of the schema's own fields, which services name as REST does. */
const inCamelCase = ({ field, message }: FieldIssue): FieldIssue => ({
  field: field === 'body' ? 'input' : camelName(field),
  message,
});

/** Names of the schema are for those who may read it. */
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

/** GraphQL's own refusals of values and requests in the terms of REST. */
function refusalOf(error: GraphQLError): AppError | undefined {
  const { message, extensions } = error;
  const details = valueFaults(error);
  if (details) return new ValueRefusal(details);
  if (extensions.code === 'BAD_REQUEST' && isOfMethod(extensions)) {
    return new AppError('method_not_allowed', { message: POST_ONLY });
  }
  if (extensions.code === 'BAD_REQUEST') {
    return new AppError('invalid_body', { message: withShortNames(message) });
  }
  return undefined;
}
