import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { matchedRules } from '../lib/route-rules.js';
import { type SecurityHeaderOptions, securityHeaders } from '../lib/security-headers.js';
import type { ApiRouteRules } from '../rest/route-rules.js';

/** The rules of the route that a request was matched with; undefined where none was. */
export const rulesOf = (request: FastifyRequest): ApiRouteRules | undefined =>
  matchedRules<ApiRouteRules>(request);

/** Security headers of the route's class on every answer, errors and 404 included. */
export function addSecurityHeaders(app: FastifyInstance, options: SecurityHeaderOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(rulesOf(request)?.headers ?? 'api', options));
  });
}

/** Refuses a Host that names no host, of which no URL of this installation can be built: 400. */
export function checkHost(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (URL.canParse(`${request.protocol}://${request.host}/`)) return;
    throw new AppError('invalid_request', { message: 'The Host header is not valid.' });
  });
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Refuses bodies of a type that the route doesn't list, and any content encoding: 415. */
export function checkContentType(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const rules = rulesOf(request);
    if (!rules || SAFE.has(request.method)) return;
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      throw new AppError('unsupported_media_type');
    }
    const type = headers['content-type'];
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (!hasBody && (type === undefined || headers.authorization !== undefined)) {
      // curl and fetch name a type even for an empty body. A form on another site can't send this header.
      delete headers['content-type'];
      return;
    }
    const mediaType = type?.split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType === undefined || !rules.contentTypes.includes(mediaType)) {
      throw new AppError('unsupported_media_type');
    }
  });
}
