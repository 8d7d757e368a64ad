import { Link, useNavigate } from '@tanstack/react-router';
import type { OverviewQuery, UsageRowFragment } from '../../../generated/graphql';
import type { ShownError } from '../../graphql/errors';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { AnalyticsSections } from '../analytics/analytics-sections';
import type { AnalyticsView } from '../analytics/view';
import type { WindowDays } from '../analytics/window';
import { WindowChoice } from '../analytics/window-choice';
import { WindowTiles } from '../analytics/window-tiles';
import { RefusedCalls } from '../refusals/refused-calls';
import { usageColumns } from '../usage/usage-columns';
import { useLiveRows } from '../usage/use-live-rows';
import { WhatIf } from '../what-if/what-if';

interface UsageOverviewProps {
  viewer: OverviewQuery['viewer'] | undefined;
  error: ShownError | null;
  /** The figures are still those of the previous window. */
  awaiting: boolean;
  window: WindowDays;
  view: AnalyticsView;
  onView(view: AnalyticsView): void;
  onRetry(): void;
}

const RECENT = 8;

/** Figures, chart, models and the last calls of the account. */
export function UsageOverview(props: UsageOverviewProps) {
  const { viewer, error, awaiting, window, view, onView, onRetry } = props;
  const navigate = useNavigate({ from: paths.dashboard });
  return (
    <>
      <PageHead
        {...outlines['/dashboard']}
        tools={
          <WindowChoice
            value={window}
            onChange={(days) => void navigate({ search: { window: days }, replace: true })}
          />
        }
      />
      {error && <LoadError error={error} onRetry={onRetry} />}
      <WindowTiles now={viewer?.now} before={viewer?.before} windowDays={window} awaiting={awaiting} />
      <AnalyticsSections
        points={viewer?.usageSeries}
        windowDays={window}
        view={view}
        onView={onView}
        awaiting={awaiting}
      />
      <WhatIf what="all calls" windowDays={window} />
      <RefusedCalls
        reasons={viewer?.refusedCalls.reasons}
        window={window}
        awaiting={awaiting}
        refresh={onRetry}
      />
      <RecentCalls loaded={viewer?.usageEvents.nodes} />
    </>
  );
}

/** The last calls, live. */
function RecentCalls({ loaded }: { loaded: readonly UsageRowFragment[] | undefined }) {
  const navigate = useNavigate();
  const { rows, fresh } = useLiveRows(loaded, 'last calls', () => true);
  return (
    <Section title="Last calls" tools={<Link to={paths.usage}>All calls</Link>}>
      <DataTable
        label="Newest calls"
        columns={usageColumns}
        rows={rows?.slice(0, RECENT)}
        fresh={fresh}
        onOpen={({ id }) => void navigate({ to: paths.usage, search: { call: id } })}
        keyOf={({ id }) => id}
        empty="No calls yet."
      />
    </Section>
  );
}
