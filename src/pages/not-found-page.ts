import type { FastifyReply, FastifyRequest } from 'fastify';
import { securityHeaders } from '../lib/security-headers.js';
import type { SiteContext } from './site.js';
import { sitePage } from './site-page.js';

/** Paths for programs, which always get JSON. */
const OF_PROGRAMS = /^\/(?:api|v1|graphql|openapi\.json|assets|health)(?:[/?]|$)/;

/** Whether a browser requests a page. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || OF_PROGRAMS.test(url)) return false;
  return headers.accept?.toLowerCase().includes('text/html') ?? false;
}

const MAIN = `<p>Check the address for a typo. If you followed a link, the page has moved or was deleted.</p>
<ul>
<li><a href="/docs/api">API reference</a>: every endpoint with examples</li>
<li><a href="/leaderboard">Leaderboard</a>: all models with their figures and prices</li>
<li><a href="/pricing">Pricing</a>: plans and prices per token</li>
<li><a href="/dashboard">Dashboard</a>: your keys, usage and balance</li>
</ul>`;

/** The page for unknown URLs. */
export const notFoundPage = (site: SiteContext): string =>
  sitePage({ title: 'Page not found', main: MAIN }, site);

/**
 * Answers a browser's request for an unknown URL with a page. Undefined leaves the response to the error handler.
 * @param https Whether the public URL is https.
 */
export function answerWithPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { site, https }: { site: SiteContext; https: boolean },
): FastifyReply | undefined {
  if (!wantsPage(request)) return undefined;
  return reply
    .status(404)
    .headers({ ...securityHeaders('page', { https }), 'cache-control': 'no-store', vary: 'accept' })
    .type('text/html; charset=utf-8')
    .send(notFoundPage(site));
}
