import { ArgsType, ObjectType } from 'type-graphql';
import { analyticsInput, usageSeriesInput } from '../../services/analytics/analytics.inputs.js';
import {
  analyticsDayOutput,
  analyticsOutput,
  modelShareOutput,
  usageSeriesPointOutput,
} from '../../services/analytics/analytics.outputs.js';
import { enumOf } from '../enum-of.js';
import { inputFields, outputFields } from '../zod-fields.js';

@ArgsType()
export class AnalyticsArgs extends inputFields(analyticsInput) {}

const UsageSeriesUnit = enumOf(
  'UsageSeriesUnit',
  'Interval of a usage series.',
  usageSeriesInput.shape.unit.unwrap(),
  { hour: 'One hour.', day: 'One day.' },
);

@ArgsType()
export class UsageSeriesArgs extends inputFields(usageSeriesInput, { unit: UsageSeriesUnit }) {}

@ObjectType({ description: usageSeriesPointOutput.description })
export class UsageSeriesPoint extends outputFields(usageSeriesPointOutput) {}

@ObjectType({ description: modelShareOutput.description })
export class AnalyticsModel extends outputFields(modelShareOutput) {}

@ObjectType({ description: analyticsDayOutput.description })
export class AnalyticsDay extends outputFields(analyticsDayOutput) {}

@ObjectType({ description: analyticsOutput.description })
export class Analytics extends outputFields(analyticsOutput, {
  topModels: [AnalyticsModel],
  dailyBreakdown: [AnalyticsDay],
}) {}
