import { Link } from '@tanstack/react-router';
import { KeyRefusedCallsDocument, type RefusedReasonFragment } from '../../../generated/graphql';
import { useRefreshOnRefused } from '../../graphql/live-account';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { Moment } from '../../ui/moment';
import { Section } from '../../ui/section';
import { StatusWord } from '../../ui/status-word';
import type { WindowDays } from '../analytics/window';
import classes from './refusals.module.css';

const REFRESH_MS = 2_000;

/** The key of a refused call, which may have been deleted. */
function PresentedKey({ keyId, keyName, keyStatus }: RefusedReasonFragment) {
  if (keyStatus === 'DELETED') return <>{keyName ?? 'a key'} (deleted)</>;
  return (
    <Link to={paths.key} params={{ keyId }}>
      {keyName}
    </Link>
  );
}

const KEY: Column<RefusedReasonFragment> = { id: 'key', head: 'Key', cell: PresentedKey };

const COLUMNS: readonly Column<RefusedReasonFragment>[] = [
  {
    id: 'answer',
    head: 'Response',
    phone: 1,
    cell: ({ httpStatus, code }) => <StatusWord tone="bad">{`${httpStatus} ${code}`}</StatusWord>,
  },
  { id: 'calls', head: 'Calls', figure: true, cell: ({ calls }) => formatCount(calls) },
  { id: 'last', head: 'Last', labelled: true, phone: 2, cell: ({ lastAt }) => <Moment at={lastAt} /> },
  { id: 'model', head: 'Model', cell: ({ modelPublicName }) => modelPublicName ?? 'Unknown model' },
  {
    id: 'remedy',
    head: 'How to fix it',
    phone: 11,
    cell: ({ remedy }) => <span className={classes.remedy}>{remedy}</span>,
  },
];
const COLUMNS_OF_ACCOUNT = [COLUMNS[0]!, KEY, ...COLUMNS.slice(1)];

const nameOf = ({ keyId, code, modelPublicName }: RefusedReasonFragment): string =>
  `${keyId} ${code} ${modelPublicName}`;

interface ReasonsProps {
  reasons: readonly RefusedReasonFragment[] | undefined;
  columns: readonly Column<RefusedReasonFragment>[];
  window: WindowDays;
  /** The figures are still those of the previous window. */
  awaiting: boolean;
}

/** Empty without refusals. */
function Reasons({ reasons, columns, window, awaiting }: ReasonsProps) {
  if (!reasons || reasons.length === 0) return null;
  const days = window === 1 ? 'today (UTC)' : `in the last ${window} days (UTC)`;
  return (
    <Section title="Rejected calls">
      <p className={classes.lead}>Rejected {days} before they reached a model. They cost nothing.</p>
      <DataTable
        label="Reasons for rejected calls"
        columns={columns}
        rows={reasons}
        awaiting={awaiting}
        keyOf={nameOf}
        empty=""
      />
    </Section>
  );
}

interface RefusedCallsProps {
  reasons: readonly RefusedReasonFragment[] | undefined;
  window: WindowDays;
  awaiting: boolean;
  refresh(): void;
}

/** The account's refused calls in a window, with advice. */
export function RefusedCalls({ reasons, window, awaiting, refresh }: RefusedCallsProps) {
  useRefreshOnRefused(refresh, REFRESH_MS);
  return <Reasons reasons={reasons} columns={COLUMNS_OF_ACCOUNT} window={window} awaiting={awaiting} />;
}

/** The same of one key. */
export function KeyRefusedCalls({ keyId, window }: { keyId: string; window: WindowDays }) {
  const { data, awaiting, refresh } = usePageQuery({
    query: KeyRefusedCallsDocument,
    variables: { id: keyId, window },
  });
  useRefreshOnRefused(refresh, REFRESH_MS);
  const reasons = data?.viewer?.apiKey?.refusedCalls?.reasons;
  return <Reasons reasons={reasons} columns={COLUMNS} window={window} awaiting={awaiting} />;
}
