import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Fetch metadata of a request that this site's own pages, or the person alone, caused. */
const OWN_SITES = new Set(['same-origin', 'none']);

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a request is to become a WebSocket. */
export const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined;

/**
 * Refuses a write that carries the session cookie, or sets it, unless this site sent it (requirement T6). Every browser says
 * where a write comes from, in `Sec-Fetch-Site`, `Origin` or both; what is said must be right. A client that says
 * neither is no browser: nobody can make it send a cookie against its will, so it passes.
 * An upgrade to WebSocket counts as a write: what goes over it may be one, and the browser asks nobody before.
 * `same-site` is refused: another service below the same domain is not this site.
 *
 * `Host` is what a page elsewhere can choose, by a name of its own that leads here (DNS rebinding). This site is what
 * PUBLIC_BASE_URL says. On a developer's machine it has several names, which nobody else can take.
 * @throws AppError `cross_site_request`
 */
export function refuseCrossSiteWrite(request: FastifyRequest, publicUrl: URL): void {
  if (SAFE_METHODS.has(request.method) && !isUpgrade(request)) return;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.has(String(site))) throw new AppError('cross_site_request');
  const { origin } = request.headers;
  if (origin === undefined || origin === publicUrl.origin) return;
  const own = `${request.protocol}://${request.host}`;
  if (origin === own && LOOPBACK_NAMES.has(publicUrl.hostname) && LOOPBACK_NAMES.has(request.hostname))
    return;
  throw new AppError('cross_site_request');
}
