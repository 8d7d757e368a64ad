import { z } from 'zod';
import { integer } from '../../lib/page-input.js';

const MAX_WINDOW_DAYS = 90;

export const analyticsInput = z.strictObject({
  window_days: integer(1, MAX_WINDOW_DAYS)
    .default(30)
    .describe('Length of the window in UTC days, including today; 1 to 90.'),
  ends_days_ago: integer(0, MAX_WINDOW_DAYS)
    .default(0)
    .describe('Days to shift the window into the past, 0 to 90. Use it to compare with an earlier window.'),
});
export type AnalyticsInput = Pick<z.output<typeof analyticsInput>, 'window_days'> &
  Partial<z.output<typeof analyticsInput>>;
