import { modelOutput } from '../services/billing/billing.outputs.js';
import {
  leaderboardInput,
  modelNameParams,
  modelPathParams,
  modelWindowInput,
  updateModelInput,
} from '../services/leaderboard/leaderboard.inputs.js';
import {
  leaderboardModelOutput,
  leaderboardOutput,
  leaderboardRowOutput,
  recomputeOutput,
} from '../services/leaderboard/leaderboard.outputs.js';
import { leaderboardMixOutput } from '../services/leaderboard/mix.outputs.js';
import type { Services } from '../services.js';
import { cacheable, NOT_MODIFIED } from './cacheable.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Leaderboard'];

/** A model is addressed by its full name, `gateway/fast`, or by its short name, `fast`. */
const MODEL_PATHS = [
  { path: '/:family/:name', params: modelPathParams, operation: '', summary: '' },
  { path: '/:name', params: modelNameParams, operation: 'ByShortName', summary: ' by its short name' },
];
const nameOf = ({ family, name }: { family?: string; name: string }): string =>
  family === undefined ? name : `${family}/${name}`;

/** The public leaderboard, and its administration. */
export function leaderboardRoutes(app: RestApp, { leaderboard, leaderboardMix }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/leaderboard',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'getLeaderboard',
      tags,
      summary: 'Rank models',
      description:
        "Ranks models by success rate, latency and price, based on hourly roll-ups of all accounts. Models with fewer than 100 calls aren't ranked.",
      security: [],
      querystring: leaderboardInput,
      response: { 200: leaderboardOutput, 304: NOT_MODIFIED, ...errorResponses(422) },
    },
    handler: async (request, reply) =>
      cacheable(request, reply, await leaderboard.list(request.context, request.query)),
  });

  app.route({
    method: 'GET',
    url: '/api/leaderboard/mine',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getLeaderboardMix',
      tags,
      summary: 'Rank models for my usage',
      description:
        'Your 95th percentile of latency beside that of all accounts, for answers of the same lengths, and chat models ranked for your mix: by their latency for answers as long as yours, and by their price for your proportion of input and output.',
      querystring: modelWindowInput,
      response: { 200: leaderboardMixOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => leaderboardMix.mix(request.context, request.query),
  });

  const model = {
    tags,
    description: 'Returns the figures of a model over the window and for each of the last 168 hours.',
    security: [],
    querystring: modelWindowInput,
    response: { 200: leaderboardModelOutput, 304: NOT_MODIFIED, ...errorResponses(404, 422) },
  };
  for (const { path, params, operation, summary } of MODEL_PATHS) {
    app.route({
      method: 'GET',
      url: `/api/leaderboard${path}`,
      config: reads({ auth: 'none' }),
      schema: {
        ...model,
        operationId: `getLeaderboardModel${operation}`,
        summary: `Get the figures of a model${summary}`,
        params,
      },
      handler: async (request, reply) => {
        const answer = await leaderboard.model(request.context, nameOf(request.params), request.query);
        return cacheable(request, reply, answer);
      },
    });
  }

  app.route({
    method: 'GET',
    url: '/api/leaderboard/:family/:name/row',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'getLeaderboardRow',
      tags,
      summary: 'Download the row of a model',
      description:
        'What its figures are computed from: counts and sketches. `docs/leaderboard.mjs` computes ranks and percentiles from it.',
      security: [],
      params: modelPathParams,
      querystring: modelWindowInput,
      response: { 200: leaderboardRowOutput, 304: NOT_MODIFIED, ...errorResponses(404, 422) },
    },
    handler: async (request, reply) => {
      const { family, name } = request.params;
      return cacheable(
        request,
        reply,
        await leaderboard.row(request.context, `${family}/${name}`, request.query),
      );
    },
  });

  app.route({
    method: 'POST',
    url: '/api/admin/leaderboard/recompute',
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'recomputeLeaderboard',
      tags: ['Administration'],
      summary: 'Recompute the leaderboard',
      description: 'Rolls up all pending hours and the current one. Requires an administrator.',
      response: { 200: recomputeOutput, ...errorResponses(401, 403, 415) },
    },
    handler: async (request) => leaderboard.recompute(request.context),
  });

  const update = {
    tags: ['Administration'],
    description: 'Changes whether a model is featured. Requires an administrator.',
    body: updateModelInput,
    response: { 200: modelOutput, ...errorResponses(401, 403, 404, 415, 422) },
  };
  for (const { path, params, operation, summary } of MODEL_PATHS) {
    app.route({
      method: 'PATCH',
      url: `/api/admin/models${path}`,
      config: writes({ auth: 'admin' }),
      schema: {
        ...update,
        operationId: `updateModel${operation}`,
        summary: `Update a model${summary}`,
        params,
      },
      handler: async (request) =>
        leaderboard.updateModel(request.context, nameOf(request.params), request.body),
    });
  }
}
