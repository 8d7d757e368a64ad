import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { ViewerDocument } from '../../generated/graphql';
import { useRefreshOnUsage } from '../graphql/live-usage';
import { usePageQuery } from '../graphql/use-page-query';
import { paths } from '../paths';
import { formatClock } from '../ui/format';
import { ShortMoney } from '../ui/money';
import { Settled } from '../ui/settled';
import classes from './app-layout.module.css';
import { lastsFor, useOutlook } from './use-outlook';

const WORDS = { FINE: 'Balance', LOW: 'Balance low', STOPPED: 'Calls stopped' } as const;
/** Screen readers announce changes after this time: announcing each charge would be too much. */
const SPOKEN = {
  FINE: 'The balance is no longer low',
  LOW: 'The balance is low',
  STOPPED: 'The balance is used up',
} as const;
/** The balance is requested this often at most, however many calls a second there are. */
const REFRESH_MS = 500;

/** The live balance on every page. Links to adding credit. */
export function Balance() {
  // The check of the session has just loaded it.
  const { data, error, refresh } = usePageQuery({ query: ViewerDocument, variables: {}, isFresh: true });
  useRefreshOnUsage(refresh, REFRESH_MS);
  /** The answer that is shown, and when it came. */
  const answer = useRef({ data, atMs: Date.now() });
  if (answer.current.data !== data) answer.current = { data, atMs: Date.now() };
  const balanceUsd = data?.viewer?.balanceUsd;
  const { state, daysLeft } = useOutlook(balanceUsd);
  const wasLow = useRef(false);
  wasLow.current ||= state !== 'FINE';
  if (balanceUsd === undefined) return null;
  return (
    <>
      <p role="status" className={classes.freshness}>
        {error && `Balance as of ${formatClock(answer.current.atMs)}`}
      </p>
      <p className={classes.balance} data-state={state}>
        <Link to={paths.billing}>
          <span className={classes.label}>
            {WORDS[state]}
            {state === 'LOW' && daysLeft !== null && (
              <span className={classes.days}>, lasts {lastsFor(daysLeft)}</span>
            )}
          </span>{' '}
          <ShortMoney usd={balanceUsd} />
        </Link>
        <Settled>{wasLow.current ? SPOKEN[state] : ''}</Settled>
      </p>
    </>
  );
}
