import { Int } from 'type-graphql';
import { z } from 'zod';
import { modelOutput } from '../../services/billing/billing.outputs.js';
import {
  leaderboardInput,
  modelNameParams,
  modelWindowInput,
  SORT_BY,
  updateModelInput,
} from '../../services/leaderboard/leaderboard.inputs.js';
import {
  leaderboardEntryOutput,
  leaderboardModelOutput,
  leaderboardOutput,
  leaderboardRowOutput,
  modelHourOutput,
  recomputeOutput,
  sketchPointOutput,
} from '../../services/leaderboard/leaderboard.outputs.js';
import { camelCased, toGraphql, toGraphqlAs } from '../case.js';
import { enumOf } from '../enum-of.js';
import { mutation, query } from '../fields.js';
import { checked } from '../input.js';
import { objectType } from '../zod-fields.js';

const LeaderboardSort = enumOf('LeaderboardSort', 'Order of the leaderboard.', SORT_BY, {
  ranking_score: 'By ranking score, highest first.',
  p95_latency: 'By 95th percentile of latency, lowest first.',
  cost: 'By output price, lowest first.',
  throughput: 'By output tokens per second, highest first.',
});

objectType('LeaderboardEntry', leaderboardEntryOutput);
objectType('ModelHour', modelHourOutput);
objectType('SketchPoint', sketchPointOutput);
const Leaderboard = objectType('Leaderboard', leaderboardOutput);
const LeaderboardModel = objectType('LeaderboardModel', leaderboardModelOutput);
const LeaderboardRow = objectType('LeaderboardRow', leaderboardRowOutput);

const modelArgs = modelNameParams.extend(modelWindowInput.shape);
const nameIn = (name: string): string => checked(modelNameParams, { name }).name;

/** A response has about 26 values per model. */
const BOARD_COST = 168;
/** A response has 7 values for each of 168 hours. */
const HOURS_COST = 1_200;
/** A sketch has about a hundred buckets. */
const SKETCHES_COST = 1_000;

/** Public performance of the models. */
export const leaderboardResolvers = [
  query('leaderboard', 'public', Leaderboard, {
    description: leaderboardOutput.description,
    complexity: BOARD_COST,
    args: leaderboardInput,
    argTypes: { windowDays: Int, sortBy: LeaderboardSort },
    run: ({ services, service }, args) =>
      toGraphql(services.leaderboard.list(service, checked(leaderboardInput, args))),
  }),
  query('leaderboardModel', 'public', LeaderboardModel, {
    nullable: true,
    description: leaderboardModelOutput.description,
    complexity: HOURS_COST,
    args: modelArgs,
    argTypes: { windowDays: Int },
    run: async ({ services, service }, { name, ...window }) => {
      const model = nameIn(name);
      return camelCased(await services.leaderboard.model(service, model, checked(modelWindowInput, window)));
    },
  }),
  query('leaderboardRow', 'public', LeaderboardRow, {
    nullable: true,
    description: leaderboardRowOutput.description,
    complexity: SKETCHES_COST,
    args: modelArgs,
    argTypes: { windowDays: Int },
    run: async ({ services, service }, { name, ...window }) => {
      const model = nameIn(name);
      return camelCased(await services.leaderboard.row(service, model, checked(modelWindowInput, window)));
    },
  }),
  mutation('recomputeLeaderboard', 'admin', {
    description:
      'Rolls up all pending hours and the current one for the leaderboard. Requires an administrator.',
    payload: recomputeOutput,
    run: ({ services, service }) => toGraphql(services.leaderboard.recompute(service)),
  }),
  mutation('updateModel', 'admin', {
    description: 'Changes whether a model is featured. Requires an administrator.',
    input: modelNameParams.extend(updateModelInput.shape).describe('A model and its changes.'),
    argument: 'The model and the changes.',
    payload: z.object({ model: modelOutput.describe('The updated model.') }).describe('The updated model.'),
    run: async ({ services, service }, { name, ...change }) => {
      const model = nameIn(name);
      const input = checked(updateModelInput, change);
      return toGraphqlAs('model', services.leaderboard.updateModel(service, model, input));
    },
  }),
];
