import { useQuery } from 'urql';
import { balanceState } from '../../../src/lib/money-parts';
import { ViewerDocument } from '../../generated/graphql';
import { Money } from '../ui/money';
import classes from './app-layout.module.css';

const WORDS = { fine: 'balance', low: 'balance low', stopped: 'calls stopped' } as const;

/** What is left, on every page. */
export function BalanceLink() {
  const [{ data }] = useQuery({ query: ViewerDocument });
  if (!data?.viewer) return null;
  const state = balanceState(data.viewer.balanceUsd);
  return (
    <span className={classes.balance} data-state={state}>
      <span className={classes.label}>{WORDS[state]}</span>
      <Money usd={data.viewer.balanceUsd} />
    </span>
  );
}
