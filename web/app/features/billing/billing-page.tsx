import type { ReactNode } from 'react';
import { BillingDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import outlines from '../../outlines.json';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { Ledger } from './ledger';
import { Plans } from './plans';
import { TopUp } from './top-up';

const REFRESH_MS = 1_000;

/** `/dashboard/billing` */
export function BillingPage(): ReactNode {
  const { data, error, refresh } = usePageQuery({ query: BillingDocument, variables: {} });
  useRefreshOnUsage(refresh, REFRESH_MS);
  return (
    <>
      <PageHead {...outlines['/dashboard/billing']} />
      {error && <LoadError error={error} onRetry={refresh} />}
      <TopUp balanceUsd={data?.viewer?.balanceUsd} />
      <Section title="Ledger">
        <Ledger />
      </Section>
      <Section title="Plans">
        <Plans plans={data?.plans ?? undefined} current={data?.viewer?.plan.name} />
      </Section>
    </>
  );
}
