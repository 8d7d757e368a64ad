import classes from './data-table.module.css';

export interface TableSort {
  /** Sortable columns, each with one sensible direction. */
  ids: readonly string[];
  by: string;
  descending: boolean;
  onChange(id: string): void;
}

interface HeadProps {
  column: { id: string; head: string; figure?: boolean; actions?: boolean };
  sort: TableSort | undefined;
}

/** The head of a column, a button if the column is sortable. */
export function Head({ column, sort }: HeadProps) {
  const look = {
    scope: 'col',
    'data-figure': column.figure || 'usd' in column || undefined,
    'data-actions': column.actions || undefined,
  } as const;
  if (!sort?.ids.includes(column.id)) return <th {...look}>{column.head}</th>;
  const chosen = sort.by === column.id;
  const direction = sort.descending ? 'descending' : 'ascending';
  return (
    <th {...look} aria-sort={chosen ? direction : undefined}>
      {/* On a phone the head is invisible, but a button would still take the focus. */}
      <span className={classes.plain}>{column.head}</span>
      <button type="button" className={classes.sort} onClick={() => sort.onChange(column.id)}>
        {column.head}
        <span aria-hidden="true">{chosen ? (sort.descending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}
