import { useEffect, useRef } from 'react';
import { useQuery, useSubscription } from 'urql';
import { balanceState } from '../../../src/lib/money-parts';
import { CallChargedDocument, ViewerDocument } from '../../generated/graphql';
import { Money } from '../ui/money';
import classes from './app-layout.module.css';

const WORDS = { fine: 'Balance', low: 'Balance low', stopped: 'Calls stopped' } as const;
/** However many calls a second: the balance is asked for this often at most. */
const REFRESH_MS = 500;

/** Asks again soon after each call that was charged. */
function useRefreshOnCharge(refresh: () => void): void {
  const timer = useRef<number>(undefined);
  useSubscription({ query: CallChargedDocument }, (_before, event) => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      refresh();
    }, REFRESH_MS);
    return event;
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);
}

/** What is left, on every page, as it changes. */
export function Balance() {
  const [{ data }, ask] = useQuery({ query: ViewerDocument });
  useRefreshOnCharge(() => ask({ requestPolicy: 'network-only' }));
  if (!data?.viewer) return null;
  const state = balanceState(data.viewer.balanceUsd);
  return (
    <p className={classes.balance} data-state={state} aria-live="polite">
      <span className={classes.label}>{WORDS[state]}</span> <Money usd={data.viewer.balanceUsd} />
    </p>
  );
}
