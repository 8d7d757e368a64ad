import type { RestApp } from '../rest/rest-app.js';
import { reads, shows } from '../rest/route-rules.js';
import { apiReference } from './docs/api-reference.js';
import { graphqlGuide } from './docs/graphql-guide.js';
import { docsPage } from './docs/html.js';
import type { ApiDocument } from './docs/openapi-types.js';
import { webhooksGuide } from './docs/webhooks-guide.js';
import { widgetGuide } from './docs/widget-guide.js';
import type { PageCache } from './public/page-cache.js';
import type { Site, SitePage } from './site.js';
import { sitePage } from './site-page.js';

const index = (): SitePage =>
  docsPage('/docs', 'Documentation', 'Reference and guides for the inference, account and billing APIs.', [
    {
      id: 'pages',
      title: 'Pages',
      body: `<ul>
<li><a href="/docs/api">API reference</a>: every operation under <code>/v1</code> and <code>/api</code></li>
<li><a href="/docs/graphql">GraphQL</a>: authentication, errors, paging, subscriptions</li>
<li><a href="/docs/webhooks">Webhooks</a>: the event, its signatures, receivers in Node and Python</li>
<li><a href="/docs/widget">Chat widget</a>: embedding, limits, errors</li>
<li><a href="/graphql/playground">GraphQL playground</a>: ask the schema, try operations</li>
</ul>`,
    },
  ]);

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
  html('/docs', index);
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
