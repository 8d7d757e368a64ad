import type pg from 'pg';
import type { Account } from './build.js';
import { normalized, type Parts } from './compare.js';

/** A build's records of an account. */
export interface Books {
  /** Usage events with their charges, by event id, which is the response's `x-request-id`. */
  events: Map<string, Parts>;
  balance: string;
  /** Credits and corrections. */
  ledger: { kind: unknown; amount: unknown }[];
  /** Messages of widgets and runs of the playground. */
  others: Parts;
}

/** Columns that differ between runs: ids, times, durations, and a node's calls in flight. */
const LEFT_OUT = new Set([
  ...['id', 'account_id', 'key_id', 'widget_id', 'event_id', 'session_id', 'created_at', 'updated_at'],
  ...['latency_ms', 'ttft_ms', 'node_id', 'node_calls', 'started_at', 'ended_at', 'response_sealed'],
]);

/** Columns that the baseline doesn't have. */
const NEW_COLUMNS = new Set(['usage.error_message', 'usage.seq', 'usage.balance_after', 'usage.xid']);

type Row = Record<string, unknown>;

/** The compared members of a row. Which deployment of a group served the call is random. */
const partsOf = (kind: string, row: Row, account: Account): Parts =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !LEFT_OUT.has(name) && !NEW_COLUMNS.has(`${kind}.${name}`))
      .map(([name, value]): [string, string] => {
        const text = normalized(JSON.stringify(value), account);
        return [`${kind}.${name}`, name === 'deployment' ? text.replace(/-\w"$/, '"') : text];
      }),
  );

const TABLES = {
  usage_events: 'created_at, id',
  ledger_entries: 'seq',
  widget_days: 'day',
  playground_runs: 'id',
} as const;

async function rowsOf(pool: pg.Pool, table: keyof typeof TABLES): Promise<Map<string, Row[]>> {
  const { rows } = await pool.query<{ row: Row }>(
    `select to_jsonb(t) as row from ${table} t order by ${TABLES[table]}`,
  );
  const owner = (row: Row): string => String(row.account_id ?? row.widget_id ?? row.session_id);
  return Map.groupBy(
    rows.map(({ row }) => row),
    owner,
  );
}

/** Reads the books of all accounts. */
export async function readBooks(pool: pg.Pool, accounts: readonly Account[]): Promise<Books[]> {
  const [usage, ledger, days, runs] = await Promise.all([
    rowsOf(pool, 'usage_events'),
    rowsOf(pool, 'ledger_entries'),
    rowsOf(pool, 'widget_days'),
    rowsOf(pool, 'playground_runs'),
  ]);
  const balances = await pool.query<{ id: string; balance: string }>(
    'select id, balance::text from accounts',
  );
  const balanceOf = new Map(balances.rows.map(({ id, balance }) => [id, balance]));
  const owned = async (table: string): Promise<Map<string, string[]>> => {
    const { rows } = await pool.query<{ id: string; account_id: string }>(
      `select id, account_id from ${table}`,
    );
    const groups = Map.groupBy(rows, ({ account_id }) => account_id);
    return new Map([...groups].map(([account, found]) => [account, found.map(({ id }) => id)]));
  };
  const [widgets, sessions] = [await owned('widgets'), await owned('playground_sessions')];

  return accounts.map((account) => {
    const { id } = account;
    const events = new Map<string, Parts>();
    const others: Parts = {};
    const charges = new Map((ledger.get(id) ?? []).map((row) => [row.event_id, row]));
    for (const row of usage.get(id) ?? []) {
      // The baseline has a ledger entry for each charge.
      const charge = charges.get(row.id) ?? (row.seq != null && { ...row, amount: -Number(row.cost) });
      const parts = {
        ...partsOf('usage', row, account),
        ...(charge && {
          'ledger.amount': Number(charge.amount).toFixed(12),
          'ledger.prices': `${charge.price_in} ${charge.price_out}`,
        }),
      };
      events.set(String(row.id), parts);
    }
    const listed = (
      name: string,
      groups: Map<string, Row[]>,
      owners: readonly string[] | undefined,
    ): void => {
      const rows = (owners ?? []).flatMap((owner) => groups.get(owner) ?? []);
      if (rows.length === 0) return;
      others[name] = rows
        .map((row) => JSON.stringify(partsOf(name, row, account)))
        .sort()
        .join('\n');
    };
    listed('message days', days, widgets.get(id));
    listed('runs', runs, sessions.get(id));
    const entries = (ledger.get(id) ?? [])
      .filter(({ kind }) => kind !== 'usage')
      .map(({ kind, amount }) => ({ kind, amount }));
    return { events, balance: balanceOf.get(id) ?? '', ledger: entries, others };
  });
}
