import { useEffect, useRef } from 'react';
import { useQuery } from 'urql';
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

/** Shown where users can't add credit. */
export const ASK_FOR_CREDIT = 'To add credit, ask an administrator of this installation.';

/** Whether users can add credit here. Undefined until it is known. */
export function useCanTopUp(): boolean | undefined {
  const [{ data }] = useQuery({ query: OutlookDocument });
  const provider = data?.billingConfig?.provider;
  return provider && provider !== 'OFF';
}

/** How long the balance lasts, in words. */
export function lastsFor(daysLeft: number): string {
  if (daysLeft < 1) return 'less than a day';
  const days = Math.round(daysLeft);
  return days === 1 ? 'about 1 day' : `about ${days} days`;
}
