import type { SeriesPointFragment } from '../../../generated/graphql';
import { TopModels } from './top-models';
import { UsageChart } from './usage-chart';
import type { AnalyticsView } from './view';
import type { WindowDays } from './window';

interface AnalyticsSectionsProps {
  points: readonly SeriesPointFragment[] | undefined;
  windowDays: WindowDays;
  view: AnalyticsView;
  onView(view: AnalyticsView): void;
  /** The points are still those of the previous window or time zone. */
  awaiting: boolean;
  /** Only calls with this key. */
  keyId?: string;
}

/** Chart and top models of a window, by the chosen measure. */
export function AnalyticsSections(props: AnalyticsSectionsProps) {
  const { points, windowDays, view, onView, awaiting, keyId } = props;
  return (
    <>
      <UsageChart
        points={points}
        windowDays={windowDays}
        measure={view.measure}
        onMeasure={(measure) => onView({ ...view, measure })}
        zone={view.zone}
        onZone={(zone) => onView({ ...view, zone })}
        awaiting={awaiting}
      />
      <TopModels
        points={points}
        measure={view.measure}
        windowDays={windowDays}
        awaiting={awaiting}
        {...(keyId && { keyId })}
      />
    </>
  );
}
