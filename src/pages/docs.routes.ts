import type { RestApp } from '../rest/rest-app.js';
import { apiReference } from './docs/api-reference.js';
import { docsIndex } from './docs/docs-index.js';
import { graphqlGuide } from './docs/graphql-guide.js';
import type { ApiDocument } from './docs/openapi-types.js';
import { webhooksGuide } from './docs/webhooks-guide.js';
import { widgetGuide } from './docs/widget-guide.js';
import type { PageCache } from './public/page-cache.js';
import { show } from './show.js';
import type { SiteContext, SitePage } from './site.js';
import { sitePage } from './site-page.js';

const OPENAPI = '/openapi.json';

export interface DocsPagesOptions {
  site: SiteContext;
  pages: PageCache;
  /** Names of GraphQL operations that need no session. */
  openOperations: readonly string[];
}

/** `/openapi.json` and the server-rendered pages of the documentation. */
export function docsPages(app: RestApp, { site, pages, openOperations }: DocsPagesOptions): void {
  const html = (url: string, render: () => SitePage): void => {
    show(app, url, 'page', (request, reply) =>
      pages.send(
        request,
        reply,
        url,
        () => undefined,
        () => sitePage(render(), site),
      ),
    );
  };
  const { baseUrl } = site;
  html('/docs', () => docsIndex(baseUrl));
  html('/docs/api', () => apiReference(app.swagger() as unknown as ApiDocument, baseUrl));
  html('/docs/graphql', () => graphqlGuide(baseUrl, openOperations));
  html('/docs/webhooks', webhooksGuide);
  html('/docs/widget', () => widgetGuide(baseUrl));
  show(app, OPENAPI, 'api', (request, reply) =>
    pages.send(
      request,
      reply,
      OPENAPI,
      () => undefined,
      () => JSON.stringify(app.swagger()),
      'application/json; charset=utf-8',
    ),
  );
}
