import type { ReactNode } from 'react';
import { ScheduledJobsDocument, type ScheduledJobsQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount, formatLatency } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';
import { StatusWord } from '../../ui/status-word';
import classes from './admin.module.css';
import { usePolled } from './use-polled';

const REFRESH_MS = 5_000;

type Job = NonNullable<ScheduledJobsQuery['scheduledJobs']>[number];

/** Whether the latest run has failed. */
const hasFailed = ({ failedAt, lastRunAt }: Job): boolean =>
  failedAt != null && (lastRunAt == null || failedAt >= lastRunAt);

function StateOfJob({ job }: { job: Job }) {
  if (job.running) return <StatusWord tone="warn">running</StatusWord>;
  if (hasFailed(job)) return <StatusWord tone="bad">failed</StatusWord>;
  if (job.lastFinishedAt == null) return <StatusWord tone="idle">never ran</StatusWord>;
  return <StatusWord tone="good">succeeded</StatusWord>;
}

function took({ lastRunAt, lastFinishedAt, running }: Job): string {
  if (running || lastRunAt == null || lastFinishedAt == null || lastFinishedAt < lastRunAt) return '–';
  return formatLatency(Date.parse(lastFinishedAt) - Date.parse(lastRunAt));
}

const columns: readonly Column<Job>[] = [
  { id: 'name', head: 'Job', phone: 1, cell: ({ name }) => <span className={classes.name}>{name}</span> },
  { id: 'state', head: 'Last run', phone: 2, cell: (job) => <StateOfJob job={job} /> },
  {
    id: 'last',
    head: 'Started',
    labelled: true,
    phone: 11,
    cell: ({ lastRunAt }) => (lastRunAt == null ? 'never' : <Moment at={lastRunAt} />),
  },
  { id: 'took', head: 'Took', figure: true, cell: took },
  {
    id: 'next',
    head: 'Next run',
    labelled: true,
    phone: 12,
    cell: ({ nextRunAt }) => (nextRunAt == null ? '–' : <Moment at={nextRunAt} />),
  },
  { id: 'every', head: 'Every', cell: ({ every }) => every ?? '–' },
  { id: 'failures', head: 'Failures', figure: true, cell: ({ failures }) => formatCount(failures) },
  {
    id: 'reason',
    head: 'Last failure',
    cell: ({ failedAt, failureReason }) =>
      failedAt == null ? (
        '–'
      ) : (
        <span className={classes.reason}>
          <Moment at={failedAt} /> {failureReason}
        </span>
      ),
  },
];

/** `/admin/jobs` */
export function JobsPage(): ReactNode {
  const { data, error, refresh } = usePageQuery({ query: ScheduledJobsDocument, variables: {} });
  usePolled(refresh, REFRESH_MS);
  return (
    <>
      <PageHead title="Jobs" lead="Scheduled work: roll-ups, checks, audit, retention and clean-up." />
      {error && <LoadError error={error} onRetry={refresh} />}
      {(data || !error) && (
        <DataTable
          label="Scheduled jobs"
          columns={columns}
          rows={data?.scheduledJobs ?? undefined}
          keyOf={({ name }) => name}
          empty="No job has run yet. They are scheduled when the jobs process starts, unless DISABLE_BACKGROUND_TASKS is set."
        />
      )}
    </>
  );
}
