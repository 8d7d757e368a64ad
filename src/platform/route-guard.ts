import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../errors.js';
import { type SecurityHeaderOptions, securityHeaders } from '../lib/security-headers.js';
import type { RouteEntry } from './route-table.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The entry of the route table that this route was matched with at its registration. */
    entry?: RouteEntry;
  }
}

/** Fastify wants at least one byte; a route without a body never parses one. */
const SMALLEST_BODY_LIMIT = 1;

const keyOf = (method: string, url: string): string => `${method} ${url}`;

/**
 * Binds every route to its entry at registration. Whatever is enforced later is read from that matched route, never
 * from a path that is parsed again (RELIABILITY.md T11, R15).
 * @throws Error at registration for a route without an entry, at `ready()` for an entry without a route.
 */
export function bindRouteTable(app: FastifyInstance, table: readonly RouteEntry[]): void {
  const entries = new Map(table.map((entry) => [keyOf(entry.method, entry.url), entry]));
  if (entries.size !== table.length) throw new Error('the route table has two entries for one route');
  const missing = new Set(entries.keys());
  app.addHook('onRoute', (route: RouteOptions) => {
    const methods = [route.method].flat().map((method) => (method === 'HEAD' ? 'GET' : method));
    const found = methods.map((method) => entries.get(keyOf(method, route.url)));
    const entry = found[0];
    if (!entry || found.some((other) => other !== entry)) {
      throw new Error(`no entry in the route table for ${methods.join(',')} ${route.url}`);
    }
    missing.delete(keyOf(entry.method, entry.url));
    route.config = { ...route.config, entry };
    route.bodyLimit = Math.max(entry.bodyLimitBytes, SMALLEST_BODY_LIMIT);
  });
  app.addHook('onReady', async () => {
    if (missing.size > 0)
      throw new Error(`the route table promises routes that don't exist: ${[...missing]}`);
  });
}

/** The entry of the route that a request was matched with; undefined where none was. */
export const entryOf = (request: FastifyRequest): RouteEntry | undefined => request.routeOptions.config.entry;

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
