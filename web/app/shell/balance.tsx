import { Link } from '@tanstack/react-router';
import { balanceState } from '../../../src/lib/money-parts';
import { ViewerDocument } from '../../generated/graphql';
import { useRefreshOnUsage } from '../graphql/live-usage';
import { usePageQuery } from '../graphql/use-page-query';
import { paths } from '../paths';
import { Money } from '../ui/money';
import classes from './app-layout.module.css';

const WORDS = { fine: 'Balance', low: 'Balance low', stopped: 'Calls stopped' } as const;
/** However many calls a second: the balance is asked for this often at most. */
const REFRESH_MS = 500;

/** What is left, on every page, as it changes; leads to where credit is added. */
export function Balance() {
  // Whoever let the page in has just asked.
  const { data, refresh } = usePageQuery({ query: ViewerDocument, variables: {}, isFresh: true });
  useRefreshOnUsage(refresh, REFRESH_MS);
  if (!data?.viewer) return null;
  const state = balanceState(data.viewer.balanceUsd);
  return (
    <p className={classes.balance} data-state={state} aria-live="polite">
      <Link to={paths.billing}>
        <span className={classes.label}>{WORDS[state]}</span> <Money usd={data.viewer.balanceUsd} />
      </Link>
    </p>
  );
}
