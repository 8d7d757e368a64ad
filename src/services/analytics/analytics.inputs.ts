import { z } from 'zod';
import { idInput } from '../../lib/input-fields.js';
import { integerInput } from '../../lib/page-input.js';

const MAX_WINDOW_DAYS = 90;

export const analyticsInput = z.strictObject({
  window_days: integerInput(1, MAX_WINDOW_DAYS)
    .default(30)
    .describe('Length of the window in UTC days, including today; 1 to 90.'),
  ends_days_ago: integerInput(0, MAX_WINDOW_DAYS)
    .default(0)
    .describe(
      'Days to shift the window into the past, 0 to 90. Use it to compare with an earlier window: unless it is 0, the last day ends at the current time of day, so that both windows have the same length.',
    ),
});

const zone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

export const usageSeriesInput = z.strictObject({
  window_days: integerInput(1, MAX_WINDOW_DAYS)
    .default(30)
    .describe('Length of the window in days of the time zone, including today; 1 to 90.'),
  unit: z
    .enum(['hour', 'day'], 'must be hour or day')
    .default('day')
    .describe('Interval of a point: `hour` or `day`.'),
  time_zone: z
    .string()
    .max(64, 'must be the name of a time zone')
    .regex(/^[A-Za-z][\w+/-]*$/, 'must be the name of a time zone, such as Europe/Berlin')
    .refine(zone, 'must be the name of a time zone, such as Europe/Berlin')
    .default('UTC')
    .describe('IANA time zone of the days, such as `Europe/Berlin`.'),
  key_id: idInput('must be the id of a key').nullish().describe('Only calls with this API key.'),
});
export type UsageSeriesInput = z.output<typeof usageSeriesInput>;

export type AnalyticsInput = Pick<z.output<typeof analyticsInput>, 'window_days'> &
  Partial<z.output<typeof analyticsInput>>;
