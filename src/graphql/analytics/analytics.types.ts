import { ArgsType, ObjectType } from 'type-graphql';
import { analyticsInput } from '../../services/analytics/analytics.inputs.js';
import {
  analyticsDayOutput,
  analyticsOutput,
  modelShareOutput,
} from '../../services/analytics/analytics.outputs.js';
import { inputFields, outputFields } from '../zod-fields.js';

@ArgsType()
export class AnalyticsArgs extends inputFields(analyticsInput) {}

@ObjectType({ description: modelShareOutput.description })
export class AnalyticsModel extends outputFields(modelShareOutput) {}

@ObjectType({ description: analyticsDayOutput.description })
export class AnalyticsDay extends outputFields(analyticsDayOutput) {}

@ObjectType({ description: analyticsOutput.description })
export class Analytics extends outputFields(analyticsOutput, {
  topModels: [AnalyticsModel],
  dailyBreakdown: [AnalyticsDay],
}) {}
