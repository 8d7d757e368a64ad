import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { type AlertEventRowFragment, ViewerDocument } from '../../generated/graphql';
import { useAlertFired } from '../graphql/live-alerts';
import { paths } from '../paths';
import { ClosableBanner } from './closable-banner';
import { useCanTopUp } from './use-outlook';

/**
 * The alerts to show. One call may reach several percentages of a key: only the highest of the latest month is shown. A low
 * balance, which concerns all keys, stays until credit is added or the banner is closed.
 */
function saysMore(shown: AlertEventRowFragment, event: AlertEventRowFragment): boolean {
  if (shown.purpose === 'LOW_BALANCE') return true;
  if (shown.keyId !== event.keyId) return false;
  const [before, month] = [shown.billingMonth ?? '', event.billingMonth ?? ''];
  if (before !== month) return before > month;
  return (shown.thresholdPct ?? 0) > (event.thresholdPct ?? 0);
}

/** Calls back when the balance, which the header reads, has risen: calls only lower it. */
function useCreditAdded(onAdded: () => void): void {
  const [{ data }] = useQuery({ query: ViewerDocument });
  const balance = Number(data?.viewer?.balanceUsd ?? Number.NaN);
  const before = useRef(balance);
  useEffect(() => {
    if (balance > before.current) onAdded();
    before.current = balance;
  }, [balance]);
}

/** Shows on every page that an alert has fired, until it is closed. */
export function AlertBanner() {
  const canTopUp = useCanTopUp();
  const [fired, setFired] = useState<AlertEventRowFragment>();
  useAlertFired((event) => setFired((shown) => (shown && saysMore(shown, event) ? shown : event)));
  const close = (): void => setFired(undefined);
  useCreditAdded(() => fired?.purpose === 'LOW_BALANCE' && close());
  if (!fired) return null;
  return (
    <ClosableBanner onClose={close}>
      {fired.purpose === 'LOW_BALANCE' ? (
        <>
          The balance is low.{' '}
          <Link to={paths.billing} onClick={close}>
            {canTopUp === false ? 'Open billing' : 'Add credit'}
          </Link>
        </>
      ) : (
        <>
          Key <em>{fired.keyName}</em> has spent {fired.thresholdPct}% of its monthly limit.{' '}
          {fired.keyId && (
            <Link to={paths.key} params={{ keyId: fired.keyId }} search={{ tab: 'alerts' }} onClick={close}>
              Show its alerts
            </Link>
          )}
        </>
      )}
    </ClosableBanner>
  );
}
