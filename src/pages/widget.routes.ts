import type { RestApp } from '../rest/rest-app.js';
import { reads } from '../rest/route-rules.js';
import { widgetFrameQuery } from '../services/widgets/widgets.inputs.js';
import type { Services } from '../services.js';
import { show } from './show.js';
import { sendAsset } from './web.routes.js';
import { notBuilt, type WebBuild, type WidgetAssets } from './web-build.js';

/** Customers' pages always load the loader by the same name, so a cached copy is revalidated soon. */
const LOADER_CACHE = 'public, max-age=300';

/** The loader that customers embed, and the chat that it inserts into their pages. */
export function widgetPages(app: RestApp, { widgets }: Services, build: WebBuild | undefined): void {
  show(app, '/widget/v1.js', 'asset', (request, reply) => {
    const loader = build?.asset(build.widget.loader);
    if (!loader) throw notBuilt();
    // Required by tags with `crossorigin`.
    reply.header('access-control-allow-origin', '*');
    return sendAsset(loader, request, reply, LOADER_CACHE);
  });

  app.route({
    method: 'GET',
    // Its name contains the loader's version: a cached loader never gets the document of another build.
    url: '/widget/frame/:version',
    config: reads({ auth: 'none', headers: 'frame' }),
    schema: { hide: true, querystring: widgetFrameQuery },
    handler: async (request, reply) => {
      if (!build) throw notBuilt();
      const { key } = request.query;
      const domains = key === undefined ? undefined : await widgets.domains(request.context, key);
      return reply
        .headers({
          'content-security-policy': framePolicy(domains),
          'cache-control': 'no-store',
          'cross-origin-resource-policy': 'cross-origin',
          // Required by pages that are isolated from other origins.
          'cross-origin-embedder-policy': 'require-corp',
        })
        .type('text/html; charset=utf-8')
        .send(widgetFrame(build.widget));
    },
  });
}

/**
 * Only our own script and style, and no connections: the embedding page makes the requests. Our own pages show the
 * frame as a preview.
 */
function framePolicy(domains: readonly string[] | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    ...ancestors(domains),
  ].join('; ');
}

/**
 * Sites that may frame the chat. Undefined: there is no such widget. An empty list allows any site: `*` would exclude
 * pages without a host, such as files and sandboxed frames. IPv6 addresses can't be named in a policy.
 */
function ancestors(domains: readonly string[] | undefined): string[] {
  if (domains?.length === 0) return [];
  return [`frame-ancestors ${["'self'", ...(domains ?? []).flatMap(sourcesOf)].join(' ')}`];
}

const sourcesOf = (domain: string): string[] =>
  domain.startsWith('[') ? [] : [`http://${domain}:*`, `https://${domain}:*`];

/** The document of a chat. The loader supplies what differs between widgets. */
const widgetFrame = ({ script, style }: WidgetAssets): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Chat</title>
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
</head>
<body>
<header>
<h1>Chat</h1>
<button type="button" id="clear">New chat</button>
<button type="button" id="close" aria-label="Close chat">✕</button>
</header>
<div id="log" role="log" aria-label="Messages" aria-live="off" tabindex="0"></div>
<div id="trouble" role="alert"></div>
<form>
<label class="unseen" for="box">Your message</label>
<textarea id="box" rows="1" maxlength="8000" dir="auto" enterkeyhint="send" autocomplete="off"></textarea>
<button type="button" id="send" aria-disabled="true">Send</button>
</form>
<div class="unseen" id="spoken" role="status" aria-live="polite"></div>
</body>
</html>
`;
