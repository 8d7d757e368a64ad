import { z } from 'zod';
import { integer } from '../../lib/page-input.js';

const MAX_WINDOW_DAYS = 90;

export const analyticsInput = z.strictObject({
  window_days: integer(1, MAX_WINDOW_DAYS)
    .default(30)
    .describe('UTC days to look back on, today included; 1 to 90.'),
});
export type AnalyticsInput = z.output<typeof analyticsInput>;
