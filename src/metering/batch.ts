import type { UsageRecord } from './usage-record.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Sums of one group of calls, in the order in which `charge_calls` expects them. */
interface Sums {
  id: string;
  total: bigint;
  calls: number;
  lastMs: number;
}

/** Calls in the order of their accounts, in the order of the calls within each. */
const inOrder = (a: UsageRecord, b: UsageRecord): number =>
  compare(a.accountId.toLowerCase(), b.accountId.toLowerCase()) ||
  a.createdAt - b.createdAt ||
  compare(a.id, b.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The arguments of `charge_calls` as PostgreSQL array literals, without the limit of mails. `accounts` are sorted. They and the
 * days of keys include those of `recorded` calls, which are not written again. The driver would search every value for quotes; here only texts, which may hold
 * any character, are escaped.
 */
export function batchArguments(
  accounts: readonly string[],
  records: readonly UsageRecord[],
  recorded: readonly UsageRecord[],
): string[] {
  const calls = [...records].sort(inOrder);
  const routes = new Map<string, number>();
  const route = new Columns(8);
  const call = new Columns(23);
  const days = new Groups();
  const hours = new Groups();
  const place = new Map(accounts.map((id, index) => [id, index + 1]));
  const after = behind(calls);
  const totals = accounts.map(() => 0n);
  const charges = accounts.map(() => 0);
  calls.forEach((record, index) => {
    const account = place.get(record.accountId.toLowerCase())!;
    totals[account - 1]! += record.cost;
    if (record.cost > 0n) charges[account - 1]!++;
    days.add(dayOf(record), record.keyId, record);
    hours.add(record.createdAt - (record.createdAt % HOUR_MS), record.accountId, record);
    const parts = routeOf(record);
    const name = parts.join();
    let nth = routes.get(name);
    if (nth === undefined) {
      nth = routes.size + 1;
      routes.set(name, nth);
      route.add(parts);
    }
    call.add(callOf(record, account, nth, after[index]!));
  });
  for (const record of recorded) days.touch(dayOf(record), record.keyId);
  return [
    array(accounts),
    array(totals),
    array(charges),
    ...route.texts(),
    ...days.texts(
      (ms) => new Date(ms).toISOString().slice(0, 10),
      ({ total }) => total,
      ({ lastMs }) => lastMs,
    ),
    ...hours.texts(
      (ms) => ms,
      ({ calls: count }) => count,
    ),
    ...call.texts(),
  ];
}

const dayOf = ({ createdAt }: UsageRecord): number => createdAt - (createdAt % DAY_MS);

const array = (values: readonly unknown[]): string => `{${values}}`;

/** For each call, the sum and the number of the charges of its account that follow it. */
function behind(calls: readonly UsageRecord[]): { later: bigint; charges: number }[] {
  const after = new Array<{ later: bigint; charges: number }>(calls.length);
  let later = 0n;
  let charges = 0;
  for (let index = calls.length - 1; index >= 0; index--) {
    const { accountId, cost } = calls[index]!;
    if (calls[index + 1]?.accountId.toLowerCase() !== accountId.toLowerCase()) {
      later = 0n;
      charges = 0;
    }
    after[index] = { later, charges };
    later += cost;
    if (cost > 0n) charges++;
  }
  return after;
}

const routeOf = (record: UsageRecord): unknown[] => [
  quoted(record.requestedModel),
  quoted(record.servedModel),
  quoted(record.movedTo),
  record.endpoint,
  record.priceIn,
  record.priceOut,
  quoted(record.deployment),
  record.nodeId ?? 'NULL',
];

const callOf = (
  record: UsageRecord,
  account: number,
  route: number,
  after: { later: bigint; charges: number },
): unknown[] => [
  record.id,
  record.createdAt,
  account,
  record.keyId ?? 'NULL',
  record.widgetId ?? 'NULL',
  record.promptVersionId ?? 'NULL',
  route,
  record.stream,
  record.inputTokens,
  record.outputTokens,
  record.cost,
  after.later,
  after.charges,
  record.latencyMs,
  record.ttftMs ?? 'NULL',
  record.status === 'error',
  quoted(record.errorCode),
  record.httpStatus,
  record.clientAborted,
  record.estimated,
  record.anomalous,
  record.nodeCalls ?? 'NULL',
  quoted(record.errorMessage),
];

function quoted(text: string | null): string {
  if (text === null) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

/** Array literals that grow row by row. */
class Columns {
  private readonly columns: string[];

  constructor(count: number) {
    this.columns = new Array<string>(count).fill('');
  }

  add(row: readonly unknown[]): void {
    row.forEach((value, index) => {
      const text = this.columns[index]!;
      this.columns[index] = text === '' ? String(value) : `${text},${value}`;
    });
  }

  texts(): string[] {
    return this.columns.map((text) => `{${text}}`);
  }
}

/** Sums by time and id. */
class Groups {
  private readonly times = new Map<number, Map<string, Sums>>();

  add(ms: number, id: string | null, { cost, createdAt }: UsageRecord): void {
    const sums = this.touch(ms, id);
    if (!sums) return;
    sums.total += cost;
    sums.calls++;
    sums.lastMs = Math.max(sums.lastMs, createdAt);
  }

  /** The sums of an id at a time, which may be zero. */
  touch(ms: number, id: string | null): Sums | undefined {
    if (id === null) return undefined;
    const group = this.times.get(ms) ?? new Map<string, Sums>();
    this.times.set(ms, group);
    const name = id.toLowerCase();
    const sums = group.get(name) ?? { id: name, total: 0n, calls: 0, lastMs: 0 };
    group.set(name, sums);
    return sums;
  }

  /** The times in order, how many rows belong to each and those before, the ids, and columns of their sums. */
  texts(nameOf: (ms: number) => unknown, ...columns: ((sums: Sums) => unknown)[]): string[] {
    const times = [...this.times].sort(([a], [b]) => a - b);
    const rows: Sums[] = [];
    const ends = times.map(([, group]) =>
      rows.push(...[...group.values()].sort((a, b) => compare(a.id, b.id))),
    );
    return [
      array(times.map(([ms]) => nameOf(ms))),
      array(ends),
      array(rows.map(({ id }) => id)),
      ...columns.map((column) => array(rows.map(column))),
    ];
  }
}
