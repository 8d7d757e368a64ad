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
  /** Right-aligned in one column width, to be compared with the one above. */
  figure?: boolean;
  /** All of a text that may be cut short, for the pointer. */
  whole?(row: Row): string;
  /** It is cut short early: other columns say more. */
  narrow?: boolean;
  /** It takes the room that the others leave on a wide screen. */
  roomy?: boolean;
  /** What can be done with a row: it stays in sight at the right edge. */
  actions?: boolean;
  /** Whether its head stands before its content on a phone, which shows no heads; left out: only if it is a figure. */
  labelled?: boolean;
  /** Place on a phone, where a row has two lines: 1 to 9 on the first one, 11 to 19 on the second. */
  phone?: number;
}

export type Column<Row> = ColumnLook<Row> &
  (
    | { cell(row: Row): ReactNode }
    | {
        /** An amount of dollars: the points of the column stand below each other. Null: none. */
        usd(row: Row): string | null;
        /** Why there is none. */
        none?(row: Row): ReactNode;
        /** A plus in front of what comes in. */
        signed?: boolean;
      }
  );

interface DataTableProps<Row> {
  /** What the table lists, for who doesn't see it. */
  label: string;
  /** The first one names the row and stays in sight. */
  columns: readonly Column<Row>[];
  /** Undefined while they are awaited. */
  rows: readonly Row[] | undefined;
  /** How many rows are awaited, where that is known: then nothing below the table moves when they come. */
  awaitedRows?: number;
  keyOf(row: Row): string;
  /** Instead of rows where there are none. */
  empty: ReactNode;
  /** Keys of rows that have just come. */
  fresh?: ReadonlySet<string>;
  /** The rows are those of before: others are being loaded. */
  awaiting?: boolean;
  /** By a click anywhere on the row; the keyboard has a link in the first column. */
  onOpen?(row: Row): void;
  /** Below a row that is open; nothing where it isn't. */
  detail?(row: Row): ReactNode;
  sort?: TableSort;
}

const AWAITED_ROWS = 5;

/** The one table of the product. On a phone its rows have two lines where the columns say their place. */
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
    // It scrolls sideways on narrow screens: the keyboard must reach it to do so.
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

/** A click on a control of the row, or to mark a text, is not one on the row. */
function isBeside({ target }: MouseEvent): boolean {
  return !(target as Element).closest('a, button, input') && getSelection()?.isCollapsed !== false;
}

/** Digits behind the point for which the amounts of a column need room. */
const roomOf = <Item,>(column: Column<Item>, rows: readonly Item[]): number =>
  'usd' in column ? Math.max(0, ...rows.map((row) => moneyParts(column.usd(row) ?? '0').rest.length)) : 0;

interface RowProps<Item> {
  row: Item;
  columns: readonly Column<Item>[];
  /** `roomOf` each column, joined: a text, so that a row with the same rooms isn't drawn again. */
  rooms: string;
  fresh: boolean;
  open: RefObject<DataTableProps<Item>['onOpen']> | undefined;
}

/** Drawn again only when it has changed itself, however many come above it. */
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

/** Of a cell on a phone; nothing where the table has no lines there. */
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
