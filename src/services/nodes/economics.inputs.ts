import { z } from 'zod';
import { integerInput } from '../../lib/page-input.js';

const MAX_WINDOW_DAYS = 30;

export const economicsInput = z.strictObject({
  window_days: integerInput(1, MAX_WINDOW_DAYS)
    .default(7)
    .describe('Length of the window in days, up to now; 1 to 30.'),
  node_id: z.string().max(100).nullish().describe('Only this node.'),
});
export type EconomicsInput = z.output<typeof economicsInput>;
