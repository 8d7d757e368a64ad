import { NativeSelect } from '@mantine/core';
import classes from './sort-choice.module.css';
import type { TableSort } from './table-head';

interface SortChoiceProps {
  columns: readonly { id: string; head: string }[];
  sort: TableSort;
}

/** Sorts a table on a phone, where rows have two lines and no column heads. */
export function SortChoice({ columns, sort }: SortChoiceProps) {
  const sortable = columns.filter(({ id }) => sort.ids.includes(id));
  return (
    <NativeSelect
      className={classes.choice!}
      label="Sort by"
      data={sortable.map(({ id, head }) => ({ value: id, label: head }))}
      value={sort.by}
      onChange={({ currentTarget }) => sort.onChange(currentTarget.value)}
    />
  );
}
