import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { acceptsEncoding } from '../lib/accept-encoding.js';
import type { RestApp } from '../rest/rest-app.js';
import { show } from './show.js';
import { type Asset, notBuilt, type WebBuild } from './web-build.js';

/** Paths that the dashboard's own router handles. */
const APP_URLS = [
  '/login',
  '/signup',
  '/forgot-password',
  '/reset-password',
  '/dashboard',
  '/dashboard/*',
  '/admin',
  '/admin/*',
] as const;

const NONCE_BYTES = 16;

/** Everything from this site only; inline only the build's first script, and styles with this response's nonce. */
const appPolicy = (nonce: string, scripts: readonly string[]): string =>
  [
    "default-src 'none'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    // For the preview of a chat widget.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** GraphiQL's editor inserts its styles into the page and runs in workers of ours. */
const playgroundPolicy = (): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The pages built from web/, and their assets. */
export function webRoutes(app: RestApp, build: WebBuild | undefined): void {
  const page = (url: string, name: string, policy: typeof appPolicy): void => {
    show(app, url, 'spa', (request, reply) => {
      if (!build) throw notBuilt();
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      // Never revalidated: policy and document contain the same nonce, made for this response.
      return reply
        .headers({
          'content-security-policy': policy(nonce, build.inlineScripts(name)),
          'cache-control': 'no-cache',
        })
        .type('text/html; charset=utf-8')
        .send(build.page(name, nonce, request.url.split('?', 1)[0]));
    });
  };
  page('/graphql/playground', 'graphql-playground', playgroundPolicy);
  for (const url of APP_URLS) page(url, 'app', appPolicy);
  show(app, '/assets/*', 'asset', (request, reply) => {
    const asset = build?.asset(request.url.split('?', 1)[0]!);
    if (asset) return sendAsset(asset, request, reply);
    // A page of an earlier release may request it; the 404 must not be cached.
    reply.header('cache-control', 'no-store');
    throw build ? new AppError('not_found') : notBuilt();
  });
}

const FOR_EVER = 'public, max-age=31536000, immutable';

/** Sends a file of the build, compressed if the client accepts it. */
export function sendAsset(
  asset: Asset,
  request: FastifyRequest,
  reply: FastifyReply,
  cacheControl = FOR_EVER,
): FastifyReply {
  const chosen = asset.compressed.find(({ encoding }) =>
    acceptsEncoding(request.headers['accept-encoding'], encoding),
  );
  const etag = `"${asset.etag}${chosen ? `-${chosen.encoding}` : ''}"`;
  reply.headers({
    'cache-control': cacheControl,
    vary: 'accept-encoding',
    etag,
  });
  const known = request.headers['if-none-match'];
  if (known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) return reply.code(304).send();
  if (chosen) reply.header('content-encoding', chosen.encoding);
  return reply.type(asset.type).send(chosen?.content ?? asset.content);
}
