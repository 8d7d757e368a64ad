import { memo, type ReactNode } from 'react';
import classes from './data-table.module.css';
import { Waiting } from './waiting';

export interface Column<Row> {
  id: string;
  head: string;
  /** Right-aligned in one column width, to be compared with the one above. */
  figure?: boolean;
  cell(row: Row): ReactNode;
}

interface DataTableProps<Row> {
  /** What the table lists, for who doesn't see it. */
  label: string;
  /** The first one names the row and stays in sight. */
  columns: readonly Column<Row>[];
  /** Undefined while they are awaited. */
  rows: readonly Row[] | undefined;
  keyOf(row: Row): string;
  /** Instead of rows where there are none. */
  empty: ReactNode;
  /** Keys of rows that have just come. */
  fresh?: ReadonlySet<string>;
  sort?: {
    /** Columns by which it can be sorted; each has one direction that makes sense. */
    ids: readonly string[];
    by: string;
    descending: boolean;
    onChange(id: string): void;
  };
}

const AWAITED_ROWS = 5;

/** The one table of the product. */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, columns, rows, keyOf, empty, fresh, sort } = props;
  return (
    // It scrolls sideways on narrow screens: the keyboard must reach it to do so.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by the keyboard
    <section className={classes.frame} aria-label={label} tabIndex={0}>
      <table className={classes.table} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <Row key={keyOf(row)} row={row} columns={columns} fresh={fresh?.has(keyOf(row)) ?? false} />
          )) ?? <AwaitedRows columns={columns.length} />}
          {rows?.length === 0 && (
            <tr>
              <td className={classes.empty} colSpan={columns.length}>
                <div className={classes.nothing}>{empty}</div>
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps<Row> {
  row: Row;
  columns: readonly Column<Row>[];
  fresh: boolean;
}

/** Drawn again only when it has changed itself, however many come above it. */
const Row = memo(function Row<Item>({ row, columns, fresh }: RowProps<Item>) {
  return (
    <tr data-fresh={fresh || undefined}>
      {columns.map((column, index) => {
        const Cell = index === 0 ? 'th' : 'td';
        return (
          <Cell
            key={column.id}
            scope={index === 0 ? 'row' : undefined}
            data-figure={column.figure || undefined}
          >
            {column.cell(row)}
          </Cell>
        );
      })}
    </tr>
  );
}) as <Item>(props: RowProps<Item>) => ReactNode;

function Head<Row>({ column, sort }: { column: Column<Row>; sort: DataTableProps<Row>['sort'] }) {
  const figure = column.figure || undefined;
  if (!sort?.ids.includes(column.id)) {
    return (
      <th scope="col" data-figure={figure}>
        {column.head}
      </th>
    );
  }
  const chosen = sort.by === column.id;
  const direction = sort.descending ? 'descending' : 'ascending';
  return (
    <th scope="col" data-figure={figure} aria-sort={chosen ? direction : undefined}>
      <button type="button" className={classes.sort} onClick={() => sort.onChange(column.id)}>
        {column.head}
        <span aria-hidden="true">{chosen ? (sort.descending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function AwaitedRows({ columns }: { columns: number }) {
  return Array.from({ length: AWAITED_ROWS }, (_, row) => (
    <tr key={row}>
      {Array.from({ length: columns }, (_, column) => (
        <td key={column}>
          <Waiting width={column === 0 ? '70%' : '50%'} />
        </td>
      ))}
    </tr>
  ));
}
