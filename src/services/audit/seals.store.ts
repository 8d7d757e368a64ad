import type { AccountPart } from './account-slice.rules.js';
import type { Query } from './invariant.js';
import { BEGINNING, type Position } from './position.js';
import { totalsOf } from './slices.store.js';
import type { TimeSlice } from './time-slice.rules.js';

/** A stretch of time to check; `ids` are its rows in the list. */
export interface ListedTime extends TimeSlice {
  ids: string[];
}

/** Times with calls that were written, rolled up or merged since they were last proven, oldest first. */
export async function unprovenTimes(query: Query): Promise<ListedTime[]> {
  const rows = await query<{ from: number; until: number; ids: string[] }>(`
    select extract(epoch from since)::float8 as from, extract(epoch from until)::float8 as until,
      coalesce(array_agg(id::text) filter (where id is not null), '{}') as ids
    from (
      select id, since, until from audit_times
      union all
      select distinct null::bigint, hour, hour + interval '1 hour' from rollup_dirty) times
    group by since, times.until order by since, times.until`);
  return rows.map(({ from, until, ids }) => ({ from: literal(from), until: literal(until), ids }));
}

const literal = (seconds: number): string =>
  Number.isFinite(seconds) ? new Date(seconds * 1_000).toISOString() : `${seconds < 0 ? '-' : ''}infinity`;

/** Takes a proven time from the list. What is listed again meanwhile stays. */
export async function sealTime(query: Query, { ids }: ListedTime): Promise<void> {
  if (ids.length > 0) await query(`delete from audit_times where id = any('{${ids}}')`);
}

export async function unsealTime(query: Query, { from, until }: TimeSlice): Promise<void> {
  await query(`insert into audit_times (since, until) values ('${from}', '${until}')`);
}

/** Notes up to where the ledgers of accounts are proven. */
export async function sealAccounts(query: Query, parts: readonly AccountPart[]): Promise<void> {
  if (parts.length === 0) return;
  const totals = await totalsOf(query, parts);
  const rows = totals.map(
    ({ accountId, start, total }) => `('${accountId}'::uuid, ${start}::bigint, ${total}::numeric)`,
  );
  await query(`
    insert into audit_seals (account_id, seq, total) values ${rows.join(', ')}
    on conflict (account_id) do update set seq = excluded.seq, total = excluded.total
    where audit_seals.seq < excluded.seq`);
}

/** Has the accounts checked again from a place in their ledgers on. */
export async function unsealAccounts(query: Query, parts: readonly AccountPart[]): Promise<void> {
  for (const { accountId, start, total } of parts)
    await query(`
      update audit_seals set seq = ${start}, total = ${total} where account_id = '${accountId}' and seq > ${start}`);
}

/** Where the audit of everything goes on, or begins if it is time; undefined if the newest began within `every`. */
export async function currentRound(query: Query, every: string): Promise<Position | undefined> {
  const [round] = await query<{ position: Position }>(`
    insert into audit_rounds as r (began_at, position) values (now(), '${JSON.stringify(BEGINNING)}')
    on conflict (only_row) do update set position = coalesce(r.position, excluded.position),
      began_at = case when r.position is null then now() else r.began_at end
    where r.position is not null or r.began_at < now() - interval '${every}'
    returning position`);
  return round?.position;
}

/** Notes how far the audit of everything has come; undefined at its end. */
export async function advanceRound(query: Query, position: Position | undefined): Promise<void> {
  await query(`update audit_rounds set position = ${position ? `'${JSON.stringify(position)}'` : 'null'}`);
}
