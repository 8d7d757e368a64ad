import { Link } from '@tanstack/react-router';
import type { KeyRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import { LimitBar } from '../../ui/limit-bar';
import { Moment } from '../../ui/moment';
import { KeyStatus, shownKey } from './key-facts';
import classes from './keys.module.css';

export const keyColumns: readonly Column<KeyRowFragment>[] = [
  {
    id: 'name',
    head: 'Name',
    whole: ({ name }) => name,
    phone: 1,
    cell: ({ id, name }) => (
      <Link to={paths.key} params={{ keyId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'prefix',
    head: 'Key',
    phone: 11,
    cell: (key) => <span className={classes.prefix}>{shownKey(key)}</span>,
  },
  {
    id: 'status',
    head: 'Status',
    phone: 12,
    cell: (key) => <KeyStatus {...key} />,
  },
  {
    id: 'spend',
    head: 'This month (UTC)',
    labelled: true,
    phone: 2,
    cell: ({ spendMonthUsd, monthlyLimitUsd }) => (
      <LimitBar
        label="Spend this month against the limit"
        spentUsd={spendMonthUsd}
        limitUsd={monthlyLimitUsd ?? null}
      />
    ),
  },
  {
    id: 'used',
    head: 'Last used',
    labelled: true,
    phone: 13,
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Moment at={lastUsedAt} ago /> : 'never'),
  },
  { id: 'created', head: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];
