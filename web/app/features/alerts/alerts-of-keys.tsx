import { Button } from '@mantine/core';
import { Suspense, useState } from 'react';
import { AlertsOfKeysDocument } from '../../../generated/graphql';
import { useRefreshOnAlerts } from '../../graphql/live-alerts';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { lazyPage } from '../../lazy-page';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { Waiting } from '../../ui/waiting';
import classes from './alerts.module.css';

// Loaded on demand: its forms and dialogs are larger than the page, and many accounts have no alerts.
const Subscription = lazyPage(() => import('./subscription'), 'Subscription');

/** More would push the history away. */
const SHOWN = 5;
/** The answer may contain a thousand alerts, so it isn't refreshed for each alert or call. */
const REFRESH_MS = 10_000;

/** The alerts of all keys with their actions, newest first. */
export function AlertsOfKeys() {
  const { data, error, refresh } = usePageQuery({
    query: AlertsOfKeysDocument,
    variables: {},
    touches: ['AlertSubscription', 'DeleteAlertSubscriptionPayload', 'ApiKey', 'DeleteApiKeyPayload'],
  });
  useRefreshOnAlerts(refresh, REFRESH_MS);
  useRefreshOnUsage(refresh, REFRESH_MS);
  const [isWhole, setIsWhole] = useState(false);
  const keys = data?.viewer?.apiKeys.nodes;
  // Ids are in the order of creation.
  const alerts = keys
    ?.flatMap((key) => key.alerts.map((alert) => ({ key, alert })))
    .sort((a, b) => b.alert.id.localeCompare(a.alert.id));
  const shown = isWhole ? alerts : alerts?.slice(0, SHOWN);
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {!alerts && !error && <Waiting height={96} />}
      {alerts?.length === 0 && (
        <Empty>
          No alerts yet. Get an email or a signed webhook when the spend of a key reaches a percentage of its
          monthly limit.
        </Empty>
      )}
      {shown && shown.length > 0 && (
        <Suspense fallback={<Waiting height={96} />}>
          <ul className={classes.subscriptions}>
            {shown.map(({ key, alert }) => (
              <Subscription
                key={alert.id}
                alert={alert}
                apiKey={key}
                keyName={key.name}
                limitUsd={key.monthlyLimitUsd ?? null}
                mailConfigured={data?.installation?.mailConfigured ?? true}
              />
            ))}
          </ul>
        </Suspense>
      )}
      {alerts && shown && alerts.length > shown.length && (
        <Button variant="default" onClick={() => setIsWhole(true)}>
          Show all {alerts.length} alerts
        </Button>
      )}
    </>
  );
}
