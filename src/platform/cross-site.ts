import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Fetch metadata of a request that this site's own pages, or the person alone, caused. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** Whether a request is to become a WebSocket. */
export const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined;

/**
 * Refuses a write that carries the session cookie, or sets it, unless this site sent it (RELIABILITY.md T6). Every browser says
 * where a write comes from, in `Sec-Fetch-Site`, `Origin` or both; what is said must be right. A client that says
 * neither is no browser: nobody can make it send a cookie against its will, so it passes.
 * An upgrade to WebSocket counts as a write: what goes over it may be one, and the browser asks nobody before.
 * `same-site` is refused: another service below the same domain is not this site.
 * @throws AppError `cross_site_request`
 */
export function refuseCrossSiteWrite(request: FastifyRequest, publicOrigin: string): void {
  if (SAFE_METHODS.has(request.method) && !isUpgrade(request)) return;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.has(String(site))) throw new AppError('cross_site_request');
  const { origin } = request.headers;
  if (origin === undefined) return;
  // The request's own host as well: a cookie goes to the host that set it only, so that a page there is ours.
  if (origin !== publicOrigin && origin !== `${request.protocol}://${request.host}`) {
    throw new AppError('cross_site_request');
  }
}
