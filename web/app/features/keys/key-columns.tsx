import { Link } from '@tanstack/react-router';
import type { KeyRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import { LimitBar } from '../../ui/limit-bar';
import { Moment } from '../../ui/moment';
import { KeyStatus, shownKey } from './key-facts';
import classes from './keys.module.css';

/** Of the list of keys. */
export const keyColumns: readonly Column<KeyRowFragment>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ id, name }) => (
      <Link to={paths.key} params={{ keyId: id }}>
        {name}
      </Link>
    ),
  },
  { id: 'prefix', head: 'Key', cell: (key) => <span className={classes.prefix}>{shownKey(key)}</span> },
  {
    id: 'status',
    head: 'Status',
    cell: (key) => <KeyStatus status={key.status} hasUpstream={key.hasUpstream} />,
  },
  {
    id: 'spend',
    head: 'This month',
    cell: ({ spendMonthUsd, monthlyLimitUsd }) => (
      <LimitBar
        label="Spend of this month against the limit"
        spentUsd={spendMonthUsd}
        limitUsd={monthlyLimitUsd ?? null}
      />
    ),
  },
  {
    id: 'used',
    head: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Moment at={lastUsedAt} ago /> : 'never'),
  },
  { id: 'created', head: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const COMPARE: Record<string, (a: KeyRowFragment, b: KeyRowFragment) => number> = {
  name: (a, b) => a.name.localeCompare(b.name),
  spend: (a, b) => Number(b.spendMonthUsd) - Number(a.spendMonthUsd),
  used: (a, b) => (b.lastUsedAt ?? '').localeCompare(a.lastUsedAt ?? ''),
  created: (a, b) => b.createdAt.localeCompare(a.createdAt),
};
export const KEY_SORTS = Object.keys(COMPARE);

/** The keys by a column: names upwards, everything else the most or newest first. */
export const sortedKeys = (keys: readonly KeyRowFragment[], by: string): KeyRowFragment[] =>
  keys.toSorted(COMPARE[by]);
