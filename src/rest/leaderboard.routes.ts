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
import { cacheable, NOT_MODIFIED } from './cacheable.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

/** A model is addressed by its full name, `gateway/fast`, or by its short name, `fast`. */
const MODEL_PATHS = [
  { path: '/:family/:name', params: modelPathParams, operation: '', summary: '' },
  { path: '/:name', params: modelNameParams, operation: 'ByShortName', summary: ' by its short name' },
];
const nameOf = ({ family, name }: { family?: string; name: string }): string =>
  family === undefined ? name : `${family}/${name}`;

/** The public leaderboard, and its administration. */
export const leaderboardRoutes = restRoutes('Leaderboard', (route, { leaderboard, leaderboardMix }) => {
  route('GET /api/leaderboard', reads({ auth: 'none' }), {
    operationId: 'getLeaderboard',
    summary: 'Rank models',
    description:
      "Ranks models by success rate, latency and price, based on hourly roll-ups of all accounts. Models with fewer than 100 calls aren't ranked.",
    query: leaderboardInput,
    returns: { 200: leaderboardOutput, 304: NOT_MODIFIED },
    run: async (request, reply) =>
      cacheable(request, reply, await leaderboard.list(request.context, request.query)),
  });

  route('GET /api/leaderboard/mine', reads({ rate: 'heavy' }), {
    operationId: 'getLeaderboardMix',
    summary: 'Rank models for my usage',
    description:
      'Your 95th percentile of latency beside that of all accounts, for answers of the same lengths, and chat models ranked for your mix: by their latency for answers as long as yours, and by their price for your proportion of input and output.',
    query: modelWindowInput,
    returns: { 200: leaderboardMixOutput },
    run: ({ context, query }) => leaderboardMix.mix(context, query),
  });

  for (const { path, params, operation, summary } of MODEL_PATHS) {
    route(`GET /api/leaderboard${path}`, reads({ auth: 'none' }), {
      operationId: `getLeaderboardModel${operation}`,
      summary: `Get the figures of a model${summary}`,
      description: 'Returns the figures of a model over the window and for each of the last 168 hours.',
      params,
      query: modelWindowInput,
      returns: { 200: leaderboardModelOutput, 304: NOT_MODIFIED },
      run: async (request, reply) => {
        const answer = await leaderboard.model(request.context, nameOf(request.params), request.query);
        return cacheable(request, reply, answer);
      },
    });
  }

  route('GET /api/leaderboard/:family/:name/row', reads({ auth: 'none' }), {
    operationId: 'getLeaderboardRow',
    summary: 'Download the row of a model',
    description:
      "Returns the counts and sketches from which the model's figures are computed. `docs/leaderboard.mjs` computes ranks and percentiles from them.",
    params: modelPathParams,
    query: modelWindowInput,
    returns: { 200: leaderboardRowOutput, 304: NOT_MODIFIED },
    run: async (request, reply) => {
      const { family, name } = request.params;
      const row = await leaderboard.row(request.context, `${family}/${name}`, request.query);
      return cacheable(request, reply, row);
    },
  });

  route('POST /api/admin/leaderboard/recompute', writes({ auth: 'admin' }), {
    tag: 'Administration',
    operationId: 'recomputeLeaderboard',
    summary: 'Recompute the leaderboard',
    description: 'Rolls up all pending hours and the current one. Requires an administrator.',
    returns: { 200: recomputeOutput },
    run: ({ context }) => leaderboard.recompute(context),
  });

  for (const { path, params, operation, summary } of MODEL_PATHS) {
    route(`PATCH /api/admin/models${path}`, writes({ auth: 'admin' }), {
      tag: 'Administration',
      operationId: `updateModel${operation}`,
      summary: `Update a model${summary}`,
      description: 'Changes whether a model is featured. Requires an administrator.',
      params,
      body: updateModelInput,
      returns: { 200: modelOutput },
      run: ({ context, params, body }) => leaderboard.updateModel(context, nameOf(params), body),
    });
  }
});
