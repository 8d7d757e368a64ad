import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { KeyAnalyticsDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { AnalyticsSections } from '../analytics/analytics-sections';
import { type AnalyticsView, FIRST_VIEW, seriesOf } from '../analytics/view';
import { DEFAULT_WINDOW, refreshMsOf } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import { WindowTiles } from '../analytics/window-tiles';
import { KeyRefusedCalls } from '../refusals/refused-calls';
import { WhatIf } from '../what-if/what-if';
import classes from './keys.module.css';

/** The usage of a key in a window. */
export function KeyAnalytics({ keyId }: { keyId: string }) {
  const { window = DEFAULT_WINDOW } = useSearch({ from: '/signed-in/dashboard/keys/$keyId' });
  const navigate = useNavigate({ from: paths.key });
  const [view, setView] = useState<AnalyticsView>(FIRST_VIEW);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: KeyAnalyticsDocument,
    variables: { id: keyId, window, ...seriesOf(window, view.zone) },
  });
  useRefreshOnUsage(refresh, refreshMsOf(window));
  const figures = data?.viewer?.apiKey;
  const now = figures?.now ?? undefined;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      <div className={classes.stack}>
        <div>
          <WindowChoice
            value={window}
            onChange={(days) =>
              void navigate({ search: (before) => ({ ...before, window: days }), replace: true })
            }
          />
        </div>
        <WindowTiles
          now={now}
          before={figures?.before ?? undefined}
          windowDays={window}
          awaiting={awaiting}
        />
      </div>
      <AnalyticsSections
        points={data?.viewer?.usageSeries}
        windowDays={window}
        view={view}
        onView={setView}
        awaiting={awaiting}
        keyId={keyId}
      />
      <WhatIf what="the calls of this key" windowDays={window} keyId={keyId} />
      <KeyRefusedCalls keyId={keyId} window={window} />
    </>
  );
}
