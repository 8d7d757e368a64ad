import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, type ErrorOptions, errorBody, errorEntry } from '../errors.js';
import { MAX_HOST_BYTES } from '../lib/http-limits.js';
import { meantPath, nothingHere } from '../lib/inference-path.js';
import type { Logger } from '../lib/logger.js';
import type { ResourceLimits } from './resource-limits.js';

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/**
 * The one normalisation of a request's target: an absolute form loses its origin, which is never believed. Routing
 * and the way to the platform read the same text afterwards (requirement T11).
 */
export function originForm(request: { url?: string }): string {
  const url = request.url ?? '/';
  if (url.startsWith('/')) return url;
  const rest = url.replace(ABSOLUTE_FORM, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

const UNREADABLE = { message: "The request can't be parsed." };

/** Answers in the API's error format, outside of routes. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  options: ErrorOptions = {},
): void {
  reply
    .code(errorEntry(code).status)
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(code, options)));
}

/** Answers 404 for a path that the router can't parse. */
export function refuseUnroutable(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const isOurs = request.raw.url?.startsWith('/v1/') ?? false;
  refuse(request, reply, isOurs ? 'endpoint_not_supported' : 'not_found');
}

/**
 * Before routing, refuses requests that two parsers could read differently: HTTP versions other than 1.0 and 1.1, no or two Host
 * headers, too many headers. Also puts Fastify's own refusals into the API's error format.
 */
export function guardRequests(
  app: FastifyInstance,
  { maxHeaders, publicBaseUrl }: Pick<ResourceLimits, 'maxHeaders'> & { publicBaseUrl: string },
  log: Logger,
): void {
  // Node silently drops headers beyond its limit, so a second credential could hide there.
  app.server.maxHeadersCount = maxHeaders + 1;
  // 100 Continue is sent when the route is ready to read the body, not before the key is checked.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const fault = faultOf(request.raw, maxHeaders);
    if (!fault) {
      done();
      return;
    }
    reply.header('connection', 'close');
    refuse(request, reply, ...fault);
  });
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 'not_found'));
  app.setErrorHandler((error, request, reply) => {
    const { statusCode } = error as { statusCode?: number };
    if (statusCode === 415) refuse(request, reply, 'unsupported_media_type');
    else if (statusCode === 413) refuse(request, reply, 'body_too_large');
    else if (statusCode !== undefined && statusCode < 500) {
      const meant = meantPath(request.url);
      if (meant === undefined) refuse(request, reply, 'invalid_request', UNREADABLE);
      else refuse(request, reply, 'not_found', { message: nothingHere(publicBaseUrl, meant) });
    } else {
      log.error({ err: error }, 'a request failed');
      refuse(request, reply, 'internal_error');
    }
  });
}

/**
 * Routes every method that Node's parser accepts, so that `/v1` checks the key whatever the method is. CONNECT never
 * becomes a request.
 */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method))
      app.addHttpMethod(method, { hasBody: true });
  }
}

/** Returns why a request is refused before routing, or undefined. */
export function faultOf(request: IncomingMessage, maxHeaders: number): [ErrorCode, ErrorOptions] | undefined {
  const { rawHeaders, httpVersionMajor } = request;
  if (httpVersionMajor !== 1) return ['invalid_request', { message: 'This HTTP version is not supported.' }];
  if (rawHeaders.length > maxHeaders * 2) {
    return ['headers_too_large', { message: `A request may have at most ${maxHeaders} headers.` }];
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts++;
    if (rawHeaders[i + 1]!.length > MAX_HOST_BYTES)
      return ['invalid_request', { message: 'The Host header is not valid.' }];
  }
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) {
    return ['invalid_request', { message: 'A request must have exactly one Host header.' }];
  }
  return undefined;
}

/** Sends 100 Continue if the client expects it. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined) response.writeContinue();
}
