import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Messages of a widget on a UTC day by site and outcome. Counted in memory first: no money depends on it. */
const WidgetSiteDaySchema = defineEntity({
  name: 'WidgetSiteDay',
  tableName: 'widget_site_days',
  properties: {
    accountId: p.uuid(),
    widgetId: p.uuid().primary(),
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    /** Host name; empty: none was named, or too many different ones. */
    site: p.text().primary(),
    /** `answered`, or why it was refused. */
    outcome: p.text().primary(),
    messages: p.bigint(),
    /** Dollars, of those that were answered. */
    cost: p.decimal().precision(24).scale(12).default('0'),
  },
});

export class WidgetSiteDay extends WidgetSiteDaySchema.class {
  override [PrimaryKeyProp]?: ['widgetId', 'day', 'site', 'outcome'];
}
WidgetSiteDaySchema.setClass(WidgetSiteDay);
