import type { ComplexityEstimator } from 'graphql-query-complexity';
import { analyticsInput, usageSeriesInput } from '../../services/analytics/analytics.inputs.js';
import {
  analyticsDayOutput,
  analyticsOutput,
  modelShareOutput,
  usageSeriesPointOutput,
} from '../../services/analytics/analytics.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { toGraphql } from '../case.js';
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

/** Reads thousands of rows but returns few values, so it counts as another read. */
const READING = 500;
/** All keys of a list are read together. */
const READING_OF_KEY = 100;
/** Number of models that an account may have called in an interval. */
const MODELS = 6;

const daysIn = ({ windowDays }: { windowDays?: number }): number =>
  Math.min(Math.max(windowDays ?? 30, 1), 90);

const analyticsCost =
  (reading: number): ComplexityEstimator =>
  ({ args, childComplexity }) =>
    reading + daysIn(args) + childComplexity;

/** Counts the points of the response, so that hours cost more than days. */
const seriesCost: ComplexityEstimator = ({ args, childComplexity }) => {
  const intervals = daysIn(args) * (args.unit === 'hour' ? 24 : 1);
  return READING + intervals * MODELS * childComplexity;
};

/** Usage of the last days, of the account and of a key. */
export const analyticsResolvers = [
  field(Viewer, 'analytics', Analytics, {
    description: 'Usage analytics for the account.',
    complexity: analyticsCost(READING),
    args: analyticsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.analytics.ofAccount(service, checked(analyticsInput, args))),
  }),
  field(Viewer, 'usageSeries', [UsageSeriesPoint], {
    description:
      'Calls per model and hour or day of a time zone, oldest first. Intervals without calls are left out.',
    complexity: seriesCost,
    args: usageSeriesInput,
    run: ({ services, service }, args) =>
      toGraphql(services.analytics.series(service, checked(usageSeriesInput, args))),
  }),
  field(ApiKey, 'analytics', Analytics, {
    nullable: true,
    description: 'Usage analytics for the key, or null if the key was deleted.',
    complexity: analyticsCost(READING_OF_KEY),
    args: analyticsInput,
    run: ({ loaders }, args, { id }) =>
      toGraphql(loaders.keyAnalytics.load({ id, window: checked(analyticsInput, args) })),
  }),
];
