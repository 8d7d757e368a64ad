import type { BillingQuery } from '../../../generated/graphql';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { Money } from '../../ui/money';
import { StatusWord } from '../../ui/status-word';
import classes from './billing.module.css';

type Plan = NonNullable<BillingQuery['plans']>[number];

interface PlansProps {
  plans: readonly Plan[] | undefined;
  current: string | undefined;
}

/** Compares the plans, and marks the account's own. */
export function Plans({ plans, current }: PlansProps) {
  const columns: readonly Column<Plan>[] = [
    {
      id: 'name',
      head: 'Plan',
      cell: ({ name }) => (
        <span className={classes.plan}>
          {name}
          {name === current && <StatusWord tone="good">yours</StatusWord>}
        </span>
      ),
    },
    { id: 'price', head: 'Per month', usd: (plan) => plan.monthlyPriceUsd },
    {
      id: 'credits',
      head: 'Credits included',
      figure: true,
      cell: (plan) => (
        <>
          <Money usd={plan.includedCreditsUsd} />
          <span className={classes.period}>{Number(plan.monthlyPriceUsd) === 0 ? ' once' : ' a month'}</span>
        </>
      ),
    },
    {
      id: 'rate',
      head: 'Requests per minute',
      figure: true,
      cell: ({ requestsPerMinute }) => formatCount(requestsPerMinute),
    },
    {
      id: 'models',
      head: 'Models',
      cell: ({ allowedModels }) => <span className={classes.models}>{allowedModels.join(', ')}</span>,
    },
  ];
  return (
    <>
      <DataTable label="All plans" columns={columns} rows={plans} keyOf={({ name }) => name} empty="" />
      <p className={classes.hint}>
        To change your plan, ask an administrator of this installation. The change takes effect immediately,
        for all keys of the account.
      </p>
    </>
  );
}
