import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { boundEntry } from '../lib/route-table.js';
import { type SecurityHeaderOptions, securityHeaders } from '../lib/security-headers.js';
import type { RouteEntry } from './route-table.js';

/** The entry of the route that a request was matched with; undefined where none was. */
export const entryOf = (request: FastifyRequest): RouteEntry | undefined => boundEntry<RouteEntry>(request);

/** Security headers of the entry's class on every answer, errors and 404 included. */
export function addSecurityHeaders(app: FastifyInstance, options: SecurityHeaderOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(entryOf(request)?.headers ?? 'api', options));
  });
}

/** Refuses bodies of a type that the entry doesn't list, and any content encoding: 415. */
export function checkContentType(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const entry = entryOf(request);
    if (!entry || entry.method === 'GET') return;
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      throw new AppError('unsupported_media_type');
    }
    const type = headers['content-type'];
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (type === undefined && !hasBody) return;
    const mediaType = type?.split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType === undefined || !entry.contentTypes.includes(mediaType)) {
      throw new AppError('unsupported_media_type');
    }
  });
}
