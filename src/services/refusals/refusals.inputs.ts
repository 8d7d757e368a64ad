import { pageInput } from '../../lib/page-input.js';
import { analyticsInput } from '../analytics/analytics.inputs.js';

/** The window of analytics, in whole hours. */
export const refusalsInput = analyticsInput.extend({
  ends_days_ago: analyticsInput.shape.ends_days_ago.describe(
    'Days to shift the window into the past, 0 to 90. Use it to compare with an earlier window: unless it is 0, the last day ends at the start of the current hour. Rejected calls are counted by the hour, so the earlier window is shorter by less than an hour.',
  ),
});

/** A page of the window's hours. */
export const listRefusalsInput = refusalsInput.extend(pageInput.shape);
