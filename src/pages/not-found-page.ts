import type { FastifyReply, FastifyRequest } from 'fastify';
import { securityHeaders } from '../lib/security-headers.js';
import { type SiteAssets, sitePage } from './site-page.js';

/** Addresses of programs: what is asked there is answered in JSON, whoever asks. */
const OF_PROGRAMS = /^\/(?:api|v1|graphql|openapi\.json|assets|health)(?:[/?]|$)/;

/** Whether somebody with a browser asks for a page. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || OF_PROGRAMS.test(url)) return false;
  return headers.accept?.toLowerCase().includes('text/html') ?? false;
}

/**
 * Answers a browser that asks for what there isn't with a page; undefined: it is for the error handler to answer.
 * @param https Whether the public address is https.
 */
export function answerWithPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { assets, https }: { assets: SiteAssets | undefined; https: boolean },
): FastifyReply | undefined {
  if (!wantsPage(request)) return undefined;
  const main = `<p>The address may have been mistyped, or what it named is gone.</p>
<p><a href="/dashboard">To the dashboard</a> · <a href="/docs">To the documentation</a></p>`;
  return reply
    .status(404)
    .headers({ ...securityHeaders('page', { https }), 'cache-control': 'no-store', vary: 'accept' })
    .type('text/html; charset=utf-8')
    .send(sitePage({ title: 'There is nothing here', main }, assets));
}
