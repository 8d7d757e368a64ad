import type { ComplexityEstimator } from 'graphql-query-complexity';
import { analyticsInput, usageSeriesInput } from '../../services/analytics/analytics.inputs.js';
import {
  analyticsDayOutput,
  analyticsOutput,
  modelShareOutput,
  usageSeriesPointOutput,
} from '../../services/analytics/analytics.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { shown } from '../case.js';
import { enumOf } from '../enum-of.js';
import { field } from '../fields.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { objectType } from '../zod-fields.js';

enumOf('UsageSeriesUnit', 'Interval of a usage series.', usageSeriesInput.shape.unit.unwrap(), {
  hour: 'One hour.',
  day: 'One day.',
});

const UsageSeriesPoint = objectType('UsageSeriesPoint', usageSeriesPointOutput);
objectType('AnalyticsModel', modelShareOutput);
objectType('AnalyticsDay', analyticsDayOutput);
const Analytics = objectType('Analytics', analyticsOutput);

/** Each reads thousands of rows: it counts as many values, though it answers with few. */
const READING = 100;
const analyticsCost: ComplexityEstimator = ({ args, childComplexity }) =>
  READING + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

/** What happened in the last days, of the account and of a key. */
export const analyticsResolvers = [
  field(Viewer, 'analytics', Analytics, {
    description: 'Usage analytics for the account.',
    complexity: analyticsCost,
    args: analyticsInput,
    run: ({ services, service }, args) =>
      shown(services.analytics.ofAccount(service, checked(analyticsInput, args))),
  }),
  field(Viewer, 'usageSeries', [UsageSeriesPoint], {
    description:
      'Calls per model and hour or day of a time zone, oldest first. Intervals without calls are left out.',
    complexity: analyticsCost,
    args: usageSeriesInput,
    run: ({ services, service }, args) =>
      shown(services.analytics.series(service, checked(usageSeriesInput, args))),
  }),
  field(ApiKey, 'analytics', Analytics, {
    nullable: true,
    description: 'Usage analytics for the key, or null if the key was deleted.',
    complexity: analyticsCost,
    args: analyticsInput,
    run: ({ loaders }, args, { id }) =>
      shown(loaders.keyAnalytics.load({ id, window: checked(analyticsInput, args) })),
  }),
];
