import { z } from 'zod';
import { mustBeOneOf } from '../../lib/input-fields.js';

const WINDOW = 'must be 7 or 30';
const SORTS = ['ranking_score', 'p95_latency', 'cost', 'throughput'] as const;
export const SORT_BY = z.enum(SORTS, mustBeOneOf(SORTS));

export const leaderboardInput = z.strictObject({
  window_days: z
    .preprocess(
      (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value),
      z.union([z.literal(7), z.literal(30)], WINDOW),
    )
    .default(7)
    .describe('Length of the window in days: 7 or 30.'),
  sort_by: SORT_BY.default('ranking_score').describe(
    'Order: `ranking_score` and `throughput` (output tokens per second) descending, `p95_latency` and `cost` (output price) ascending.',
  ),
});
export type LeaderboardInput = z.output<typeof leaderboardInput>;

const NAME = 'must have 1 to 100 characters';
export const modelNameParams = z.object({
  name: z
    .string()
    .min(1, NAME)
    .max(100, NAME)
    .describe('Public name of the model, with or without `gateway/`.'),
});
export const modelPathParams = modelNameParams.extend({
  family: z.string().min(1, NAME).max(100, NAME).describe('Part of the name before the slash: `gateway`.'),
});

export const modelWindowInput = leaderboardInput.pick({ window_days: true });

export const updateModelInput = z
  .strictObject({
    is_featured: z.boolean('must be true or false').describe('Whether the model is featured.'),
  })
  .meta({ id: 'UpdateModel', description: 'Changes to a model.', minProperties: 1 });
export type UpdateModelInput = z.output<typeof updateModelInput>;
