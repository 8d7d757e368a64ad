import { AppError } from '../errors.js';
import type { RestApp } from '../rest/rest-app.js';
import { reads } from '../rest/route-rules.js';
import { slugParams } from '../services/playground/playground.inputs.js';
import type { Services } from '../services.js';
import { missingPlaygroundPage, sharedPlaygroundPage } from './shared-playground-page.js';
import type { SiteContext } from './site.js';

/** Not for search engines and not cached, because its owner may end it at any time. */
const HEADERS = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };

/** `/p/{slug}`: a shared playground session as a page. */
export function sharedPlaygroundRoutes(app: RestApp, { playground }: Services, site: SiteContext): void {
  app.route({
    method: 'GET',
    url: '/p/:slug',
    config: reads({ auth: 'none', headers: 'page' }),
    schema: { hide: true, params: slugParams },
    handler: async (request, reply) => {
      reply.headers(HEADERS).type('text/html; charset=utf-8');
      try {
        const session = await playground.shared(request.context, request.params);
        return reply.send(sharedPlaygroundPage(session, request.params.slug, site));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        return reply.status(404).send(missingPlaygroundPage(site));
      }
    },
  });
}
