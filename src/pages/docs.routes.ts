import type { FastifyReply } from 'fastify';
import type { RestApp } from '../rest/rest-app.js';
import { shows } from '../rest/route-rules.js';
import { graphqlGuide } from './docs/graphql-guide.js';
import { docsPage, STYLE } from './docs/html.js';
import { webhooksGuide } from './docs/webhooks-guide.js';

const index = (): string =>
  docsPage('Documentation', 'Reference and guides for the inference, account and billing APIs.', [
    {
      id: 'pages',
      title: 'Pages',
      body: `<ul>
<li><a href="/docs/api">API reference</a>: every operation of the REST API</li>
<li><a href="/docs/graphql">GraphQL</a>: authentication, errors, paging, subscriptions</li>
<li><a href="/docs/webhooks">Webhooks</a>: the event, its signatures, receivers in Node and Python</li>
<li><a href="/graphql/playground">GraphQL playground</a>: ask the schema, try operations</li>
</ul>`,
    },
  ]);

/** Pages of the documentation that this server renders itself. */
export function docsPages(app: RestApp): void {
  const html = (url: string, render: () => string): void => {
    // Rendered once: nothing in it depends on who asks.
    let page: string | undefined;
    app.route({
      method: 'GET',
      url,
      config: shows('page'),
      schema: { hide: true },
      handler: (_request, reply: FastifyReply) => {
        page ??= render();
        reply.type('text/html; charset=utf-8').header('cache-control', 'public, max-age=300').send(page);
      },
    });
  };
  html('/docs', index);
  html('/docs/graphql', graphqlGuide);
  html('/docs/webhooks', webhooksGuide);
  app.route({
    method: 'GET',
    url: '/docs/style.css',
    config: shows('asset'),
    schema: { hide: true },
    handler: (_request, reply) => {
      reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(STYLE);
    },
  });
}
