import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Fetch metadata of requests from this site's own pages, or made by the user directly. */
const OWN_SITES = new Set(['same-origin', 'none']);

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a request asks for a WebSocket. */
export const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined;

/**
 * Refuses a write that carries the session cookie, or sets it, unless it comes from this site (requirement T6). Every
 * browser sends the origin of a write in `Sec-Fetch-Site`, `Origin` or both, and every value sent must match. A client that sends
 * neither isn't a browser, so no page can make it send a cookie, and its request passes. An upgrade to WebSocket
 * counts as a write: writes may go over it, and the browser makes no preflight request. `same-site` is refused:
 * another service below the same domain is not this site.
 *
 * `Host` can't be trusted: another site can point a name of its own here (DNS rebinding). This site is
 * PUBLIC_BASE_URL. On a developer's machine it also has several loopback names, which nobody else can take.
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
