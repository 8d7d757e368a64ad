import { useEffect, useRef } from 'react';
import { callsStopped } from '../../../src/lib/money-parts';
import { OutlookDocument } from '../../generated/graphql';
import { usePageQuery } from '../graphql/use-page-query';

const REFRESH_MS = 60_000;

interface Outlook {
  state: 'FINE' | 'LOW' | 'STOPPED';
  /** Null: unknown. */
  daysLeft: number | null;
}

/**
 * How long a balance lasts. Whether calls have stopped follows from the balance itself; how long it lasts is refreshed each
 * minute and whenever credit is added.
 */
export function useOutlook(balanceUsd: string | undefined): Outlook {
  const { data, refresh } = usePageQuery({ query: OutlookDocument, variables: {} });
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const timer = setInterval(() => latest.current(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const { state = 'FINE', daysLeft = null } = data?.viewer?.balanceOutlook ?? {};
  if (balanceUsd !== undefined && callsStopped(balanceUsd)) return { state: 'STOPPED', daysLeft: null };
  return { state: state === 'STOPPED' ? 'LOW' : state, daysLeft };
}

/** How long the balance lasts, in words. */
export function lastsFor(daysLeft: number): string {
  if (daysLeft < 1) return 'less than a day';
  const days = Math.round(daysLeft);
  return days === 1 ? 'about 1 day' : `about ${days} days`;
}
