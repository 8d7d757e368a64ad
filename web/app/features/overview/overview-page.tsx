import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { OverviewDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { type AnalyticsView, FIRST_VIEW, seriesOf } from '../analytics/view';
import { DEFAULT_WINDOW, refreshMsOf } from '../analytics/window';
import { FirstRun } from './first-run';
import { UsageOverview } from './usage-overview';

/** `/dashboard`: the first steps until there is a call, then the usage overview. */
export function OverviewPage(): ReactNode {
  const { window = DEFAULT_WINDOW } = useSearch({ from: '/signed-in/dashboard' });
  const [view, setView] = useState<AnalyticsView>(FIRST_VIEW);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: OverviewDocument,
    variables: { window, ...seriesOf(window, view.zone) },
    touches: ['UsageEvent', 'ApiKey'],
  });
  useRefreshOnUsage(refresh, refreshMsOf(window));
  const viewer = data?.viewer;
  const isNew = viewer?.usageEvents.totalCount === 0;
  // The first steps stay until the user leaves them: the first call must not remove them.
  const [firstSteps, setFirstSteps] = useState<'shown' | 'left'>();
  if (isNew && firstSteps === undefined) setFirstSteps('shown');
  if (!viewer && error) {
    return (
      <>
        <PageHead title="Overview" />
        <LoadError error={error} onRetry={refresh} />
      </>
    );
  }
  if (viewer && firstSteps === 'shown') {
    return <FirstRun viewer={viewer} onDone={() => setFirstSteps('left')} />;
  }
  return (
    <UsageOverview
      viewer={viewer}
      error={error}
      awaiting={awaiting}
      window={window}
      view={view}
      onView={setView}
      onRetry={refresh}
    />
  );
}
