import { formatTimestamp } from '../lib/clock.js';
import { escaped } from '../lib/html.js';
import type { RestApp } from '../rest/rest-app.js';
import type { Services } from '../services.js';
import { modelPath } from './public/html.js';
import { show } from './show.js';
import type { SiteContext } from './site.js';

/** One hour; only `lastmod` changes. */
const CACHE = 'public, max-age=3600';

const robots = (baseUrl: string): string => `User-agent: *
Allow: /
Disallow: /dashboard
Disallow: /admin
Disallow: /api

Sitemap: ${baseUrl}/sitemap.xml
`;

const entryOf = (url: string, lastModified: string): string =>
  `<url><loc>${escaped(url)}</loc><lastmod>${lastModified}</lastmod></url>`;

/** `/robots.txt` and `/sitemap.xml`. */
export function crawlerRoutes(
  app: RestApp,
  { services, site: { baseUrl }, startedAt }: { services: Services; site: SiteContext; startedAt: number },
): void {
  show(app, '/robots.txt', 'asset', (_request, reply) =>
    reply.header('cache-control', CACHE).type('text/plain; charset=utf-8').send(robots(baseUrl)),
  );
  show(app, '/sitemap.xml', 'asset', async (request, reply) => {
    const board = await services.leaderboard.list(request.context, {
      window_days: 7,
      sort_by: 'ranking_score',
    });
    const names = [
      ...board.entries.map((entry) => entry.model_public_name),
      ...board.insufficient_data_models,
    ].toSorted();
    // Pages of a release change when it starts. The others show figures of the last hours.
    const started = formatTimestamp(startedAt);
    const live = ['/', '/leaderboard', '/status', ...names.map(modelPath)];
    const still = [
      '/pricing',
      '/migrate',
      '/docs',
      '/docs/api',
      '/docs/graphql',
      '/docs/webhooks',
      '/docs/widget',
    ];
    const urls = [
      ...live.map((path) => entryOf(baseUrl + path, board.generated_at)),
      ...still.map((path) => entryOf(baseUrl + path, started)),
    ];
    return reply
      .header('cache-control', CACHE)
      .type('application/xml; charset=utf-8')
      .send(
        `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`,
      );
  });
}
