import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import { AccountAlertsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { lazyPage } from '../../lazy-page';
import { paths } from '../../paths';
import { ErrorNote } from '../../ui/error-note';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { Section } from '../../ui/section';
import { useCloseDialog } from '../../ui/use-close-dialog';
import { useFetched } from '../../use-fetched';
import { AlertHistory } from './alert-history';
import { AlertsOfKeys } from './alerts-of-keys';

// Loaded on demand: the form and its checks are larger than the list.
const CreateAnyAlert = lazyPage(() => import('./create-any-alert'), 'CreateAnyAlert');

/** `/dashboard/alerts`: the alerts of all keys, and the history of all alerts, including those of the balance. */
export function AlertsPage(): ReactNode {
  const { after, new_alert: newAlert } = useSearch({ from: '/signed-in/dashboard/alerts' });
  const navigate = useNavigate({ from: '/dashboard/alerts' });
  const set = (next: true | string | undefined): void =>
    void navigate({
      search: ({ new_alert: _newAlert, ...before }) => ({ ...before, ...(next && { new_alert: next }) }),
      replace: next !== true,
    });
  const { fetchDialog, error: missing } = useFetched(CreateAnyAlert);
  const open = async (): Promise<void> => {
    if (await fetchDialog()) set(true);
  };
  const close = useCloseDialog(newAlert !== undefined, () => set(undefined));
  /** The key of an alert that is being created: its secret is shown even if the dialog was closed. */
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
            Alerts for all keys and for the balance. Change the low-balance email in your{' '}
            <Link to={paths.profile}>profile</Link>.
          </>
        }
        tools={<Button onClick={() => void open()}>Create alert</Button>}
      />
      {(newAlert || making) && (
        <Suspense>
          <CreateAnyAlert
            keyId={chosen}
            opened={newAlert !== undefined}
            onChoose={set}
            onClose={close}
            onMaking={(isMaking) => setMaking(isMaking ? chosen : undefined)}
          />
        </Suspense>
      )}
      {missing && <ErrorNote error={missing} />}
      <AlertsOfKeys />
      <Section title="History">
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
      </Section>
    </>
  );
}
