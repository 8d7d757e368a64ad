import type { RestApp } from '../rest/rest-app.js';
import { reads } from '../rest/route-rules.js';
import { widgetFrameQuery } from '../services/widgets/widgets.inputs.js';
import type { Services } from '../services.js';
import { show } from './show.js';
import { sendAsset } from './web.routes.js';
import { notBuilt, type WebBuild } from './web-build.js';
import { widgetFrame } from './widget-frame.js';

/** Pages load the loader by one name for ever: a copy of it is soon asked about. */
const LOADER_CACHE = 'public, max-age=300';

/** The loader that customers embed, and the chat that it puts into their pages. */
export function widgetPages(app: RestApp, { widgets }: Services, build: WebBuild | undefined): void {
  show(app, '/widget/v1.js', 'asset', (request, reply) => {
    const loader = build?.asset(build.widget.loader);
    if (!loader) throw notBuilt();
    // A tag with `crossorigin` asks for it.
    reply.header('access-control-allow-origin', '*');
    return sendAsset(loader, request, reply, LOADER_CACHE);
  });

  app.route({
    method: 'GET',
    // Its name changes with what the loader was built with: a cached loader never gets the document of another.
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
          // Pages that are isolated from other origins frame only documents that are so, too.
          'cross-origin-embedder-policy': 'require-corp',
        })
        .type('text/html; charset=utf-8')
        .send(widgetFrame(build.widget));
    },
  });
}

/**
 * Nothing but our own script and style, no connection at all: the page around the frame asks for it. Our own pages show it
 * as a preview.
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
 * Which sites may frame the chat. Undefined: there is no such widget. Any may where the list is empty: `*` would leave out pages
 * that have no host, such as files and sandboxed frames. IPv6 addresses can't be named in a policy.
 */
function ancestors(domains: readonly string[] | undefined): string[] {
  if (domains?.length === 0) return [];
  return [`frame-ancestors ${["'self'", ...(domains ?? []).flatMap(sourcesOf)].join(' ')}`];
}

const sourcesOf = (domain: string): string[] =>
  domain.startsWith('[') ? [] : [`http://${domain}:*`, `https://${domain}:*`];
