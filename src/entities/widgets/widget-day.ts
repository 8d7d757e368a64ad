import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Usage of a widget on a UTC day, written with the usage events. Outlives its widget. */
const WidgetDaySchema = defineEntity({
  name: 'WidgetDay',
  tableName: 'widget_days',
  properties: {
    widgetId: p.uuid().primary(),
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    /** Answered messages, which the daily limit counts. */
    messages: p.integer(),
    errors: p.integer(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Dollars. */
    cost: p.decimal().precision(24).scale(12),
  },
});

export class WidgetDay extends WidgetDaySchema.class {
  override [PrimaryKeyProp]?: ['widgetId', 'day'];
}
WidgetDaySchema.setClass(WidgetDay);
