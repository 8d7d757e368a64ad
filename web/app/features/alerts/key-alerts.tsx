import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { KeyAlertsDocument, type KeyRowFragment } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { Pager } from '../../ui/pager';
import { Section } from '../../ui/section';
import { useCloseDialog } from '../../ui/use-close-dialog';
import { Waiting } from '../../ui/waiting';
import { openLimit } from '../keys/limit-draft';
import { AlertHistory } from './alert-history';
import classes from './alerts.module.css';
import { CreateAlert } from './create-alert';
import { Subscription } from './subscription';

/** The alerts of a key, and their history. Alerts are percentages of the monthly limit: without a limit, asks for one first. */
export function KeyAlerts({ apiKey }: { apiKey: KeyRowFragment }) {
  const { after, create: creating = false } = useSearch({ from: '/signed-in/dashboard/keys/$keyId' });
  const navigate = useNavigate({ from: '/dashboard/keys/$keyId' });
  const close = useCloseDialog(
    creating,
    () => void navigate({ search: ({ create: _create, ...before }) => before, replace: true }),
  );
  const { data, error, refresh } = usePageQuery({
    query: KeyAlertsDocument,
    variables: { id: apiKey.id, after: after ?? null },
    touches: ['AlertSubscription', 'AlertEvent', 'DeleteAlertSubscriptionPayload'],
  });
  const limitUsd = apiKey.monthlyLimitUsd ?? null;
  const facts = data?.viewer?.apiKey;
  const mailConfigured = data?.installation?.mailConfigured ?? true;
  const to = { to: paths.key, params: { keyId: apiKey.id } } as const;
  const create = (
    <Button onClick={() => void navigate({ search: (before) => ({ ...before, create: true }) })}>
      Create alert
    </Button>
  );
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {limitUsd === null && (
        <Empty
          action={
            <Button
              onClick={() => openLimit(apiKey.id)}
              renderRoot={(props) => <Link {...to} search={{ tab: 'caps' }} {...props} />}
            >
              Set a monthly limit
            </Button>
          }
        >
          Alerts fire when a key has spent a percentage of its monthly limit, and this key has no limit.
        </Empty>
      )}
      {limitUsd !== null && facts?.alerts.length === 0 && (
        <Empty action={create}>
          No alerts yet. Get an email or a signed webhook when spend reaches a percentage of the monthly
          limit.
        </Empty>
      )}
      {limitUsd !== null && !facts && !error && <Waiting height={96} />}
      {facts && facts.alerts.length > 0 && (
        <>
          <ul className={classes.subscriptions}>
            {facts.alerts.map((alert) => (
              <Subscription
                key={alert.id}
                alert={alert}
                apiKey={apiKey}
                limitUsd={limitUsd}
                mailConfigured={mailConfigured}
              />
            ))}
          </ul>
          {limitUsd !== null && create}
        </>
      )}
      {limitUsd !== null && (
        <CreateAlert
          apiKey={apiKey}
          limitUsd={limitUsd}
          email={data?.viewer?.email ?? ''}
          mailConfigured={mailConfigured}
          opened={creating}
          onClose={close}
        />
      )}
      <Section title="History">
        <AlertHistory
          events={facts?.alertEvents.nodes}
          refresh={refresh}
          empty="No alert has fired yet. Alerts for this key appear here with their delivery status."
        />
        <Pager
          newer={
            after !== undefined && (
              <Link {...to} search={{ tab: 'alerts' }}>
                Newest
              </Link>
            )
          }
          older={
            facts?.alertEvents.pageInfo.hasNextPage && (
              <Link {...to} search={{ tab: 'alerts', after: facts.alertEvents.pageInfo.endCursor! }}>
                Older
              </Link>
            )
          }
        />
      </Section>
    </>
  );
}
