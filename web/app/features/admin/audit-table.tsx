import { Link } from '@tanstack/react-router';
import { AdminActionsDocument, type AdminActionsQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Pager } from '../../ui/pager';
import classes from './admin.module.css';
import type { AuditSearch } from './admin-search';

type Action = NonNullable<AdminActionsQuery['adminActions']>[number];

const PAGE = 50;

const WORDS: Record<string, string> = {
  'account.update': 'Changed account',
  'account.adjust_credit': 'Adjusted credit',
  'node.create': 'Registered node',
  'node.update': 'Changed node',
  'node.delete': 'Deleted node',
  'model.update': 'Changed model',
};

function Actor({ action: { actorId, actorEmail, source } }: { action: Action }) {
  if (source === 'COMMAND_LINE' || actorId == null) return 'command line';
  return (
    <Link to={paths.audit} search={{ actor: actorId }}>
      {actorEmail ?? 'deleted account'}
    </Link>
  );
}

/** The changed object, by its name if the entry has one. */
function Subject({ action: { action, subjectId, subjectEmail, changes } }: { action: Action }) {
  const named = changes.find(({ field }) => field === 'name');
  const words = named?.after ?? named?.before ?? subjectId;
  if (action.startsWith('account.')) {
    return (
      <Link to={paths.user} params={{ userId: subjectId }} className={classes.name}>
        {subjectEmail ?? subjectId}
      </Link>
    );
  }
  if (action.startsWith('node.')) {
    return (
      <Link to={paths.node} params={{ nodeId: subjectId }} search={{}} className={classes.name}>
        {words}
      </Link>
    );
  }
  return <span className={classes.name}>{subjectId}</span>;
}

function Changes({ action: { changes, reason } }: { action: Action }) {
  return (
    <ul className={classes.changes}>
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          {field}: <span className={classes.name}>{before ?? 'none'}</span> →{' '}
          <span className={classes.name}>{after ?? 'none'}</span>
        </li>
      ))}
      {reason != null && <li>Reason: {reason}</li>}
    </ul>
  );
}

const TIME: Column<Action> = {
  id: 'at',
  head: 'Time',
  phone: 2,
  cell: ({ createdAt }) => <Moment at={createdAt} />,
};
const WHO: Column<Action> = {
  id: 'who',
  head: 'Who',
  phone: 11,
  cell: (action) => <Actor action={action} />,
};
const WHAT: Column<Action> = {
  id: 'what',
  head: 'What',
  phone: 1,
  cell: ({ action }) => WORDS[action] ?? action,
};
const SUBJECT: Column<Action> = {
  id: 'subject',
  head: 'Subject',
  whole: ({ subjectId, subjectEmail }) => subjectEmail ?? subjectId,
  phone: 12,
  cell: (action) => <Subject action={action} />,
};
const CHANGES: Column<Action> = {
  id: 'changes',
  head: 'Before → after',
  phone: 13,
  cell: (action) => <Changes action={action} />,
};

const columnsOfOne = [WHAT, CHANGES, WHO, TIME];
const columnsOfAll = [WHAT, SUBJECT, CHANGES, WHO, TIME];

/** The actions on one account. */
export function AuditTable({ subjectId }: { subjectId: string }) {
  return <Actions search={{ subject: subjectId }} columns={columnsOfOne} paged={false} />;
}

/** The audit log, filtered by the search parameters. */
export function AuditLog({ search }: { search: AuditSearch }) {
  return <Actions search={search} columns={columnsOfAll} paged />;
}

interface ActionsProps {
  search: AuditSearch;
  columns: readonly Column<Action>[];
  paged: boolean;
}

function Actions({ search, columns, paged }: ActionsProps) {
  const { subject, kind, actor, page = 1 } = search;
  const { data, error, awaiting, refresh } = usePageQuery({
    query: AdminActionsDocument,
    variables: {
      subjectId: subject ?? null,
      action: kind ?? null,
      actorId: actor ?? null,
      // One more than is shown: is there another page?
      limit: PAGE + 1,
      offset: (page - 1) * PAGE,
    },
    touches: ['AdminAction', 'User', 'GpuNode', 'CreditAdjustment'],
  });
  const found = data?.adminActions ?? undefined;
  // The page of an account isn't a filter: without entries, there were no actions.
  const isFiltered = paged && Boolean(subject || kind || actor);
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {(found || !error) && (
        <DataTable
          label="Actions of administrators"
          columns={columns}
          rows={found?.slice(0, PAGE)}
          awaiting={awaiting}
          keyOf={({ id }) => id}
          empty={isFiltered ? 'No actions match.' : 'No actions yet.'}
        />
      )}
      {paged && (
        <Pager
          newer={
            page > 1 && (
              <Link to={paths.audit} search={{ ...search, page: page - 1 }}>
                Newer
              </Link>
            )
          }
          older={
            found &&
            found.length > PAGE && (
              <Link to={paths.audit} search={{ ...search, page: page + 1 }}>
                Older
              </Link>
            )
          }
        />
      )}
    </>
  );
}
