import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { AppError, type ErrorCode, errorBody, errorEntry, type PlainErrorCode } from '../errors.js';
import { fieldIssues } from '../lib/field-issues.js';
import { meantPath, nothingHere } from '../lib/inference-path.js';
import { largerThan } from '../lib/larger-than.js';
import { isUnanswerable, rawAnswer } from '../lib/raw-answer.js';
import { toAppError as plainAppError } from '../lib/to-app-error.js';

/** Answers a request for an unknown page with an HTML page; undefined if the client wants no page. */
type AnswerWithPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

/**
 * Answers every error of the platform in the format of src/errors.ts, and logs those that aren't the caller's fault.
 * @param publicBaseUrl Without a trailing slash.
 */
export function handleErrors(app: FastifyInstance, asPage: AnswerWithPage, publicBaseUrl: string): void {
  app.setErrorHandler((error, request, reply) => {
    const appError = requestError(error);
    const { bodyLimit } = request.routeOptions;
    if (appError.code !== 'body_too_large' || bodyLimit === undefined)
      return sendError(appError, request, reply);
    return sendError(new AppError(appError.code, { message: largerThan(bodyLimit) }), request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const meant = meantPath(request.url);
    const options = meant === undefined ? {} : { message: nothingHere(publicBaseUrl, meant) };
    return asPage(request, reply) ?? sendError(new AppError('not_found', options), request, reply);
  });
}

export function sendError(error: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const level = error.options.quiet ? undefined : errorEntry(error.code).log;
  if (level) {
    request.log[level](
      { err: error.cause ?? error, route: request.routeOptions.url, requestId: request.id, code: error.code },
      'request failed',
    );
  }
  reply.errorCode = error.code;
  if (error.options.retryAfterSeconds !== undefined) {
    reply.header('retry-after', String(Math.max(1, Math.ceil(error.options.retryAfterSeconds))));
  }
  return reply
    .status(error.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error.code, { ...error.options, message: error.message })));
}

/** Translates Fastify's own errors. */
export function requestError(error: unknown): AppError {
  if (hasZodFastifySchemaValidationErrors(error)) return fromValidation(error.validation);
  const code = codeOfFramework(error);
  return code ? new AppError(code) : plainAppError(error);
}

function fromValidation(validation: readonly FastifySchemaValidationError[]): AppError {
  const issues = validation.map(({ instancePath, message, params }) => ({
    path: instancePath.split('/').filter(Boolean),
    message: message ?? 'is not valid',
    ...(Array.isArray(params.keys) && { keys: params.keys as string[] }),
  }));
  return new AppError('validation_error', { details: fieldIssues(issues) });
}

/** Fastify's own refusals are always the caller's fault. */
function codeOfFramework(error: unknown): PlainErrorCode | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { statusCode, code, name } = error as { statusCode?: number; code?: string; name?: string };
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return 'not_found';
  if (!code?.startsWith('FST_ERR_CTP_') && name !== 'SyntaxError') return undefined;
  if (statusCode === 413) return 'body_too_large';
  if (statusCode === 415) return 'unsupported_media_type';
  return statusCode === 400 ? 'invalid_body' : undefined;
}

declare module 'fastify' {
  interface FastifyReply {
    /** Error code of the response, for the metrics. */
    errorCode: string | null;
  }
}

/** Answers invalid HTTP and oversized headers, which fail before Fastify sees a request. */
export function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (isUnanswerable(error, socket)) {
    socket.destroy();
    return;
  }
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request';
  const options = code === 'invalid_request' ? { message: 'This is not a valid HTTP request.' } : {};
  socket.end(rawAnswer(errorEntry(code).status, errorBody(code, options)));
}
