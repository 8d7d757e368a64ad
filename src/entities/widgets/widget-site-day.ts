import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Messages of a widget on a UTC day by site and outcome. Counted in memory first, since no money depends on it. */
const WidgetSiteDaySchema = defineEntity({
  name: 'WidgetSiteDay',
  tableName: 'widget_site_days',
  properties: {
    accountId: p.uuid(),
    widgetId: p.uuid().primary(),
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    /** Host name; empty if the request named none, or there were too many different ones. */
    site: p.text().primary(),
    /** `answered`, or the reason for the refusal. */
    outcome: p.text().primary(),
    messages: p.bigint(),
    /** Dollars, of answered messages. */
    cost: p.decimal().precision(24).scale(12).default('0'),
  },
});

export class WidgetSiteDay extends WidgetSiteDaySchema.class {
  override [PrimaryKeyProp]?: ['widgetId', 'day', 'site', 'outcome'];
}
WidgetSiteDaySchema.setClass(WidgetSiteDay);
