import type { Measure } from './series.rules';
import { type Zone, zoneOf } from './zone';

/** What is chosen of how the figures are shown. */
export interface AnalyticsView {
  measure: Measure;
  zone: Zone;
}

export const FIRST_VIEW: AnalyticsView = { measure: 'cost', zone: 'utc' };

/** What the API is asked for: today by the hour, everything else by the day. */
export const seriesOf = (windowDays: number, zone: Zone) =>
  ({ unit: windowDays === 1 ? 'HOUR' : 'DAY', timeZone: zoneOf(zone) }) as const;
