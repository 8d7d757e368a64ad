import type { RestApp } from '../rest/rest-app.js';
import { reads, shows } from '../rest/route-rules.js';
import { apiReference } from './docs/api-reference.js';
import { docsIndex } from './docs/docs-index.js';
import { graphqlGuide } from './docs/graphql-guide.js';
import type { ApiDocument } from './docs/openapi-types.js';
import { webhooksGuide } from './docs/webhooks-guide.js';
import { widgetGuide } from './docs/widget-guide.js';
import type { PageCache } from './public/page-cache.js';
import type { Site, SitePage } from './site.js';
import { sitePage } from './site-page.js';

/** `/openapi.json`, the pages of the documentation, which this server renders itself. */
export function docsPages(app: RestApp, site: Site, pages: PageCache): void {
  const html = (url: string, render: () => SitePage): void => {
    app.route({
      method: 'GET',
      url,
      config: shows('page'),
      schema: { hide: true },
      handler: (request, reply) =>
        pages.send(
          request,
          reply,
          url,
          () => undefined,
          () => sitePage(render(), site),
        ),
    });
  };
  const { baseUrl } = site;
  html('/docs', () => docsIndex(baseUrl));
  html('/docs/api', () => apiReference(app.swagger() as unknown as ApiDocument, baseUrl));
  html('/docs/graphql', () => graphqlGuide(baseUrl));
  html('/docs/webhooks', webhooksGuide);
  html('/docs/widget', () => widgetGuide(baseUrl));
  let document: string | undefined;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: reads({ auth: 'none', rate: 'none' }),
    schema: { hide: true },
    handler: (_request, reply) => {
      document ??= JSON.stringify(app.swagger());
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(document);
    },
  });
}
