import { randomBytes } from 'node:crypto';
import { notBuilt, type WebBuild } from '../pages/web-build.js';
import type { RestApp } from './rest-app.js';
import { reads, shows } from './route-rules.js';

/** Scalar phones home by default: fonts, telemetry, an agent and a proxy. All of it is off. */
const SETTINGS = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
};

const page = (script: string, nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The plain document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="${script}"></script>
<script nonce="${nonce}">Scalar.createApiReference('#app', ${JSON.stringify(SETTINGS)})</script>
</body>
</html>
`;

/** Scripts run from this site or with the nonce only; Scalar writes its styles into the page itself. */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** `/openapi.json`, the page that shows it, and the way to it from `/`. */
export function docsRoutes(app: RestApp, build: WebBuild | undefined): void {
  let document: string | undefined;
  app.route({
    method: 'GET',
    url: '/',
    config: shows('page'),
    schema: { hide: true },
    // Until there is a landing page, a browser at the bare address is shown what there is.
    handler: (_request, reply) => reply.redirect('/docs/api', 302),
  });
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
  app.route({
    method: 'GET',
    url: '/docs/api',
    config: shows('page'),
    schema: { hide: true },
    handler: (_request, reply) => {
      if (!build) throw notBuilt();
      const nonce = randomBytes(16).toString('base64');
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', contentSecurityPolicy(nonce))
        .header('cache-control', 'no-store')
        .send(page(build.reference, nonce));
    },
  });
}
