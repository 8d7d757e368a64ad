import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { AccountAlertsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { useCloseDialog } from '../../ui/use-close-dialog';
import { AlertHistory } from './alert-history';
import { CreateAnyAlert } from './create-any-alert';

/** `/dashboard/alerts`: what was told, of all keys and of the balance. */
export function AlertsPage(): ReactNode {
  const { after, new_alert: newAlert } = useSearch({ from: '/signed-in/dashboard/alerts' });
  const navigate = useNavigate({ from: '/dashboard/alerts' });
  const set = (next: true | string | undefined): void =>
    void navigate({
      search: ({ new_alert: _newAlert, ...before }) => ({ ...before, ...(next && { new_alert: next }) }),
      replace: next !== true,
    });
  const close = useCloseDialog(newAlert !== undefined, () => set(undefined));
  /** The key of an alert that is being made: its secret is shown though the dialog was closed. */
  const [making, setMaking] = useState<string>();
  const chosen = making ?? (newAlert === true ? undefined : newAlert);
  const { data, error, refresh } = usePageQuery({
    query: AccountAlertsDocument,
    variables: { after: after ?? null },
    touches: ['AlertEvent'],
  });
  const page = data?.viewer?.alertEvents;
  return (
    <>
      <PageHead
        title="Alerts"
        lead={
          <>
            Alerts of all keys and of the balance. Change the alerts of a key on{' '}
            <Link to={paths.keys}>its page</Link>, and the low-balance email in your{' '}
            <Link to={paths.profile}>profile</Link>.
          </>
        }
        tools={<Button onClick={() => set(true)}>Create alert</Button>}
      />
      {(newAlert || making) && (
        <CreateAnyAlert
          keyId={chosen}
          opened={newAlert !== undefined}
          onChoose={set}
          onClose={close}
          onMaking={(isMaking) => setMaking(isMaking ? chosen : undefined)}
        />
      )}
      {error && <LoadError error={error} onRetry={refresh} />}
      {(page || !error) && (
        <AlertHistory
          withKey
          events={page?.nodes}
          refresh={refresh}
          empty="No alert has fired yet. Alerts appear here with their delivery status."
        />
      )}
      <Pager
        newer={
          after !== undefined && (
            <Link to={paths.alerts} search={{}}>
              Newest
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.alerts} search={{ after: page.pageInfo.endCursor! }}>
              Older
            </Link>
          )
        }
      />
    </>
  );
}
