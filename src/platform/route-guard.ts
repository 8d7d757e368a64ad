import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { matchedRules } from '../lib/route-rules.js';
import { type SecurityHeaderOptions, securityHeaders } from '../lib/security-headers.js';
import { asWork, networkOwner } from '../lib/work-owner.js';
import type { ApiRouteRules } from '../rest/route-rules.js';

/** The rules of the matched route; undefined without one. */
export const rulesOf = (request: FastifyRequest): ApiRouteRules | undefined =>
  matchedRules<ApiRouteRules>(request);

/** Adds the security headers of the route's class to every response, including errors and 404. */
export function addSecurityHeaders(app: FastifyInstance, options: SecurityHeaderOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(rulesOf(request)?.headers ?? 'api', options));
  });
}

/** Refuses an invalid Host, from which no URL of this installation can be built: 400. */
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
      // curl and fetch send a type even for an empty body. A form on another site can't send this header.
      delete headers['content-type'];
      return;
    }
    const mediaType = type?.split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType === undefined || !rules.contentTypes.includes(mediaType)) {
      throw new AppError('unsupported_media_type');
    }
  });
}

/**
 * Attributes a request's database work to its caller (src/db/pool-share.ts): its network, until a session is known.
 */
export function ownWork(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // Health checks and pages from memory need no database.
    if ((rulesOf(request)?.rate ?? 'none') === 'none') done();
    else asWork({ owner: networkOwner(request.context.network) }, done);
  });
}
