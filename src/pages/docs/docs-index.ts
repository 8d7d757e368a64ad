import { errorTable } from '../../errors.js';
import { chatSnippets } from '../../services/migration/snippets.rules.js';
import type { SitePage } from '../site.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';

const pages: Section = {
  id: 'pages',
  title: 'Pages',
  body: `<ul>
<li><a href="/docs/api">API reference</a>: every operation under <code>/v1</code> and <code>/api</code></li>
<li><a href="/docs/graphql">GraphQL</a>: authentication, errors, paging, subscriptions</li>
<li><a href="/docs/webhooks">Webhooks</a>: the event, its signatures, receivers in Node and Python</li>
<li><a href="/docs/widget">Chat widget</a>: embedding, limits, errors</li>
<li><a href="/graphql/playground">GraphQL playground</a>: ask the schema, try operations</li>
</ul>`,
};

function quickStart(baseUrl: string): Section {
  const snippets = chatSnippets({ baseUrl, model: 'gateway/fast' });
  return {
    id: 'quick-start',
    title: 'Quick start',
    body: [
      '<p><a href="/signup">Create an account</a>, then <a href="/dashboard/keys?create=true">create an API key</a> and keep it in your environment:</p>',
      code('export GATEWAY_API_KEY=sk-pr-…'),
      paragraph('Call a model with curl, or with the OpenAI SDK that you already use:'),
      ...[snippets.curl, snippets.node, snippets.python].map(code),
      '<p>The call appears in <a href="/dashboard/usage">usage</a> with its tokens and cost. <code>GET /v1/models</code> lists the models of your plan.</p>',
    ].join(''),
  };
}

const errors: Section = {
  id: 'errors',
  title: 'Errors',
  body: [
    paragraph(
      'All APIs return errors in the same format. Use `code` in your program; `message` explains the cause and the remedy. GraphQL has the same codes in `extensions.code`.',
    ),
    code(
      '{ "error": { "message": "…", "type": "invalid_request_error", "param": null, "code": "invalid_body" } }',
    ),
    table(
      ['code', 'status', 'meaning'],
      Object.entries(errorTable).map(([name, { status, message }]) => [
        `\`${name}\``,
        String(status),
        message,
      ]),
    ),
    paragraph(
      'SDKs retry 429 and 5xx. `Retry-After` says when, and `x-should-retry: false` that a retry can’t help. Quote `x-request-id` when you ask for support.',
    ),
  ].join(''),
};

/** `/docs`: a first call, every error, and links to the other pages. */
export const docsIndex = (baseUrl: string): SitePage =>
  docsPage('/docs', 'Documentation', 'Reference and guides for the inference, account and billing APIs.', [
    pages,
    quickStart(baseUrl),
    errors,
  ]);
