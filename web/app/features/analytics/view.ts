import type { Measure } from './series.rules';
import { type Zone, zoneOf } from './zone';

/** The chosen measure and form of the chart. */
export interface AnalyticsView {
  measure: Measure;
  zone: Zone;
}

export const FIRST_VIEW: AnalyticsView = { measure: 'cost', zone: 'utc' };

/** The requested series: today per hour, other windows per day. */
export const seriesOf = (windowDays: number, zone: Zone) =>
  ({ unit: windowDays === 1 ? 'HOUR' : 'DAY', timeZone: zoneOf(zone) }) as const;
