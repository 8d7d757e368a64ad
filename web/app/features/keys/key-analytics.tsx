import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyAnalyticsDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { DailyChart } from '../analytics/daily-chart';
import { TopModels } from '../analytics/top-models';
import { DEFAULT_WINDOW } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import { WindowTiles } from '../analytics/window-tiles';
import { KeyRefusedCalls } from '../refusals/refused-calls';
import classes from './keys.module.css';

const REFRESH_MS = 2_000;

/** What was done with a key in a window. */
export function KeyAnalytics({ keyId }: { keyId: string }) {
  const { window = DEFAULT_WINDOW } = useSearch({ from: '/signed-in/dashboard/keys/$keyId' });
  const navigate = useNavigate({ from: paths.key });
  const { data, error, refresh } = usePageQuery({
    query: KeyAnalyticsDocument,
    variables: { id: keyId, window },
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
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
        <WindowTiles now={now} before={figures?.before ?? undefined} windowDays={window} />
      </div>
      <DailyChart days={now?.dailyBreakdown} />
      <KeyRefusedCalls keyId={keyId} window={window} />
      <TopModels models={now?.topModels} windowDays={window} keyId={keyId} />
    </>
  );
}
