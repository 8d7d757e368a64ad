import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import type { RestApp } from '../rest/rest-app.js';
import { type LeaderboardInput, leaderboardInput } from '../services/leaderboard/leaderboard.inputs.js';
import type { LeaderboardModelOutput } from '../services/leaderboard/leaderboard.outputs.js';
import { codeSnippets } from '../services/migration/snippets.rules.js';
import type { Services } from '../services.js';
import { createPublicCatalog } from './public/catalog.js';
import { modelPath } from './public/html.js';
import { landingPage } from './public/landing-page.js';
import { leaderboardPage, missingModel } from './public/leaderboard-page.js';
import { migratePages } from './public/migrate/migrate.routes.js';
import { modelPage } from './public/model-page.js';
import type { PageCache } from './public/page-cache.js';
import { pricingPage } from './public/pricing-page.js';
import { statusPage } from './public/status-page.js';
import { show } from './show.js';
import type { SiteContext, SitePage } from './site.js';
import { sitePage } from './site-page.js';

export interface PublicPagesOptions {
  services: Services;
  site: SiteContext;
  clock: Clock;
  pages: PageCache;
  /** Number of accounts that must have used a model before it is shown. */
  leastAccounts: number;
}

const DEFAULTS: LeaderboardInput = { window_days: 7, sort_by: 'ranking_score' };

/** The query of the leaderboard. Unknown values count as absent. */
function asked(query: unknown): LeaderboardInput {
  const given = query as Record<string, unknown>;
  const { window_days, sort_by } = leaderboardInput.shape;
  return {
    window_days: window_days.catch(DEFAULTS.window_days).parse(given.window_days),
    sort_by: sort_by.catch(DEFAULTS.sort_by).parse(given.sort_by),
  };
}

/** The model of a new account's first call. */
const FIRST_MODEL = 'gateway/fast';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Public pages: the product, prices, performance of the models, and the migration estimator. */
export function publicPages(app: RestApp, options: PublicPagesOptions): void {
  const { services, site, clock, pages, leastAccounts } = options;
  const { leaderboard } = services;
  const { baseUrl } = site;
  const catalogOf = createPublicCatalog(services, clock);
  const shown = (page: SitePage): string => sitePage(page, site);
  const route = (url: string, handler: Handler): void => show(app, url, 'page', handler);

  route('/', (request, reply) =>
    pages.send(
      request,
      reply,
      'landing',
      () => leaderboard.list(request.context, DEFAULTS),
      async (board) => {
        const catalog = await catalogOf(request.context);
        const snippets = codeSnippets({ baseUrl, model: FIRST_MODEL }, false);
        return shown(landingPage({ baseUrl, catalog, board, snippets }));
      },
    ),
  );

  route('/pricing', (request, reply) =>
    pages.send(
      request,
      reply,
      'pricing',
      () => catalogOf(request.context),
      (catalog) => shown(pricingPage(catalog)),
    ),
  );

  route('/leaderboard', (request, reply) => {
    const input = asked(request.query);
    return pages.send(
      request,
      reply,
      `leaderboard ${input.window_days} ${input.sort_by}`,
      () => leaderboard.list(request.context, input),
      async (board) => {
        const { simulated } = await catalogOf(request.context);
        const models: LeaderboardModelOutput[] = [];
        for (const { model_public_name: name } of board.entries)
          models.push(await leaderboard.model(request.context, name, input));
        return shown(leaderboardPage({ input, board, models, leastAccounts, simulated }));
      },
    );
  });

  route('/leaderboard/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const { window_days: windowDays } = asked(request.query);
    const catalog = await catalogOf(request.context);
    const { models, plans, simulated } = catalog;
    const model = await leaderboard
      .model(request.context, name, { window_days: windowDays })
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return undefined;
        throw error;
      });
    if (!model) {
      const names = models.map((one) => one.model_public_name);
      reply.code(404).header('cache-control', 'no-store').type('text/html; charset=utf-8');
      return reply.send(shown(missingModel(name, names)));
    }
    const publicName = model.model_public_name;
    const key = `model ${publicName} ${windowDays}`;
    return pages.send(
      request,
      reply,
      key,
      () => model,
      () =>
        shown(
          modelPage({
            windowDays,
            model,
            models,
            plans: plans.flatMap((plan) => (plan.allowed_models.includes(publicName) ? [plan.name] : [])),
            snippets: codeSnippets({ baseUrl, model: publicName }, model.family === 'embedding'),
            leastAccounts,
            simulated,
            baseUrl,
          }),
        ),
    );
  });

  route('/status', (request, reply) =>
    pages.send(
      request,
      reply,
      'status',
      () => services.status.status(request.context),
      async (status) => {
        const { simulated } = await catalogOf(request.context);
        return shown(statusPage(status, { leastAccounts, simulated }));
      },
    ),
  );

  // The full name, as calls use it.
  route('/leaderboard/gateway/:name', async (request, reply) =>
    reply.redirect(modelPath((request.params as { name: string }).name), 301),
  );

  migratePages(app, services, {
    site,
    plansOf: async (request) => (await catalogOf(request.context)).plans,
  });
}
