import { Fragment, type MouseEvent, memo, type ReactNode, type RefObject, useRef } from 'react';
import { moneyParts } from '../../../src/lib/money-parts';
import classes from './data-table.module.css';
import { Money } from './money';
import { SortChoice } from './sort-choice';
import { Head, type TableSort } from './table-head';
import { useOverflow } from './use-overflow';
import { appearing, Waiting } from './waiting';

interface ColumnLook<Row> {
  id: string;
  head: string;
  /** Right-aligned, so that figures can be compared. */
  figure?: boolean;
  /** The full text of a cell that may be cut off, shown by the pointer. */
  whole?(row: Row): string;
  /** Cut off early: other columns matter more. */
  narrow?: boolean;
  /** Takes the room that the others leave on a wide screen. */
  roomy?: boolean;
  /** Actions of a row, which stay in sight at the right edge. */
  actions?: boolean;
  /** Whether the head is shown before the content on a phone, which shows no heads. Default: only for figures. */
  labelled?: boolean;
  /** Place on a phone, where a row has two lines: 1 to 9 on the first line, 11 to 19 on the second. */
  phone?: number;
}

export type Column<Row> = ColumnLook<Row> &
  (
    | { cell(row: Row): ReactNode }
    | {
        /** An amount of dollars, aligned at the decimal point. Null: no amount. */
        usd(row: Row): string | null;
        /** Shown instead of a missing amount. */
        none?(row: Row): ReactNode;
        /** Shows a plus before positive amounts. */
        signed?: boolean;
      }
  );

interface DataTableProps<Row> {
  /** Label for screen readers. */
  label: string;
  /** The first column names the row and stays in sight. */
  columns: readonly Column<Row>[];
  /** Undefined while the rows are awaited. */
  rows: readonly Row[] | undefined;
  /** How many rows are awaited, if known: then nothing below the table moves when they come. */
  awaitedRows?: number;
  keyOf(row: Row): string;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Keys of new rows. */
  fresh?: ReadonlySet<string>;
  /** The rows are the previous ones: others are being loaded. */
  awaiting?: boolean;
  /** Called by a click anywhere on the row. For the keyboard, the first column has a link. */
  onOpen?(row: Row): void;
  /** Content below an open row; undefined for a closed one. */
  detail?(row: Row): ReactNode;
  sort?: TableSort;
}

const AWAITED_ROWS = 5;

/** The table of all pages. On a phone, its rows have two lines if the columns have a `phone` place. */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, columns, rows, keyOf, empty, fresh, awaiting, detail, onOpen, sort } = props;
  const { awaitedRows = AWAITED_ROWS } = props;
  const frame = useRef<HTMLElement>(null);
  const more = useOverflow(frame);
  const open = useRef(onOpen);
  open.current = onOpen;
  const rooms = columns.map((column) => roomOf(column, rows ?? [])).join();
  const hasLines = columns.some(({ phone }) => phone !== undefined);
  return (
    // Scrolls sideways on narrow screens, so the keyboard must reach it.
    <section
      ref={frame}
      className={classes.frame}
      aria-label={label}
      data-more-left={more.left || undefined}
      data-more-right={more.right || undefined}
      data-awaiting={awaiting || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by the keyboard
      tabIndex={0}
    >
      {sort && hasLines && rows?.length !== 0 && <SortChoice columns={columns} sort={sort} />}
      <table
        className={classes.table}
        data-lines={hasLines || undefined}
        aria-busy={rows === undefined || awaiting}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => {
            const opened = detail?.(row);
            return (
              <Fragment key={keyOf(row)}>
                <Row
                  row={row}
                  columns={columns}
                  rooms={rooms}
                  fresh={fresh?.has(keyOf(row)) ?? false}
                  open={onOpen && open}
                />
                {opened && (
                  <tr>
                    <td className={classes.detail} colSpan={columns.length}>
                      {opened}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          }) ?? <AwaitedRows columns={columns} rows={awaitedRows} />}
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

/** Whether a click is on a control of the row, or selects text. */
function isBeside({ target }: MouseEvent): boolean {
  return !(target as Element).closest('a, button, input') && getSelection()?.isCollapsed !== false;
}

/** Decimals for which the amounts of a column need room. */
const roomOf = <Item,>(column: Column<Item>, rows: readonly Item[]): number =>
  'usd' in column ? Math.max(0, ...rows.map((row) => moneyParts(column.usd(row) ?? '0').rest.length)) : 0;

interface RowProps<Item> {
  row: Item;
  columns: readonly Column<Item>[];
  /** `roomOf` each column, joined into a string, so that unchanged rows aren't rendered again. */
  rooms: string;
  fresh: boolean;
  open: RefObject<DataTableProps<Item>['onOpen']> | undefined;
}

/** Only rendered again when the row itself changes, however many rows are added above. */
const Row = memo(function Row<Item>({ row, columns, rooms, fresh, open }: RowProps<Item>) {
  const room = rooms.split(',');
  return (
    <tr
      data-fresh={fresh || undefined}
      data-opens={open !== undefined || undefined}
      onClick={open && ((event) => isBeside(event) && open.current?.(row))}
    >
      {columns.map((column, index) => (
        <Cell key={column.id} column={column} row={row} isFirst={index === 0}>
          {contentOf(column, row, Number(room[index]))}
        </Cell>
      ))}
    </tr>
  );
}) as <Item>(props: RowProps<Item>) => ReactNode;

function contentOf<Item>(column: Column<Item>, row: Item, room: number): ReactNode {
  if ('cell' in column) return column.cell(row);
  const amount = column.usd(row);
  if (amount === null) return column.none?.(row);
  return <Money usd={amount} signed={column.signed ?? false} room={room} />;
}

interface CellProps<Item> {
  column: Column<Item>;
  row: Item;
  isFirst: boolean;
  children: ReactNode;
}

function Cell<Item>({ column, row, isFirst, children }: CellProps<Item>) {
  const Element = isFirst ? 'th' : 'td';
  const isFigure = column.figure || 'usd' in column || undefined;
  return (
    <Element
      scope={isFirst ? 'row' : undefined}
      title={column.whole?.(row)}
      data-whole={column.whole !== undefined || undefined}
      data-narrow={column.narrow || undefined}
      data-roomy={column.roomy || undefined}
      data-figure={isFigure}
      data-label={(column.labelled ?? isFigure) ? column.head : undefined}
      data-actions={column.actions || undefined}
      {...placeOf(column)}
    >
      {children}
    </Element>
  );
}

/** The place of a cell on a phone; empty if the table has no lines there. */
const placeOf = ({ phone }: { phone?: number }) =>
  phone === undefined ? {} : { 'data-phone': '', style: { order: phone } };

interface AwaitedRowsProps<Item> {
  columns: readonly Column<Item>[];
  rows: number;
}

function AwaitedRows<Item>({ columns, rows }: AwaitedRowsProps<Item>) {
  return Array.from({ length: rows }, (_, row) => (
    <tr key={row} className={appearing} data-awaited="">
      {columns.map((column, index) => (
        <td key={column.id} {...placeOf(column)}>
          <Waiting width={index === 0 ? '70%' : '50%'} isPart />
        </td>
      ))}
    </tr>
  ));
}
