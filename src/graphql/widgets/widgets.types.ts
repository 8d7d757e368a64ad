import { Field, ID, ObjectType } from 'type-graphql';
import {
  widgetDayOutput,
  widgetOutput,
  widgetRefusalOutput,
  widgetSiteOutput,
  widgetThemeOutput,
  widgetUsageOutput,
} from '../../services/widgets/widgets.outputs.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const WidgetStatus = enumOf('WidgetStatus', 'Widget status.', widgetOutput.shape.status, {
  active: 'The widget answers.',
  deleted: 'The widget was deleted.',
});

@ObjectType({ description: widgetThemeOutput.description })
export class WidgetTheme extends outputFields(widgetThemeOutput, { position: String }) {}

@ObjectType({ description: widgetOutput.description })
export class Widget extends outputFields(widgetOutput, { theme: WidgetTheme, status: WidgetStatus }) {}

@ObjectType({ description: widgetDayOutput.description })
export class WidgetDay extends outputFields(widgetDayOutput) {}

@ObjectType({ description: widgetRefusalOutput.description })
export class WidgetRefusal extends outputFields(widgetRefusalOutput) {}

@ObjectType({ description: widgetSiteOutput.description })
export class WidgetSite extends outputFields(widgetSiteOutput) {}

@ObjectType({ description: widgetUsageOutput.description })
export class WidgetUsage extends outputFields(widgetUsageOutput, {
  dailyBreakdown: [WidgetDay],
  refused: [WidgetRefusal],
  sites: [WidgetSite],
}) {}

@ObjectType()
abstract class WidgetPayload {
  @Field(() => Widget, { description: 'The widget.' })
  widget!: Widget;
}

@ObjectType({ description: 'The new widget.' })
export class CreateWidgetPayload extends WidgetPayload {}

@ObjectType({ description: 'The updated widget.' })
export class UpdateWidgetPayload extends WidgetPayload {}

@ObjectType({ description: 'The widget with its new public key.' })
export class RotateWidgetKeyPayload extends WidgetPayload {}

@ObjectType({ description: 'The result of a deletion.' })
export class DeleteWidgetPayload {
  @Field(() => ID, { description: 'ID of the deleted widget.' })
  deletedWidgetId!: string;
}
