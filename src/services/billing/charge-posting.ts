import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { ServiceContext } from '../../context.js';

/** Accounts locked together; a batch takes some milliseconds. */
const BATCH = 200;
/** Sorts before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Writes the ledger entries of all charges that have none yet, one per account. Each batch has its own transaction. Locked
 * accounts are left to the next run: until then, their charges are an entry that still grows.
 * @returns the number of entries.
 */
export async function postDueCharges({ em }: ServiceContext): Promise<number> {
  let posted = 0;
  for (let ids = [FIRST_ID]; ids.length > 0; posted += ids.length)
    ids = await em.fork().transactional((inner) => postBatch(inner, ids.at(-1)!));
  return posted;
}

/** @returns the accounts with a new entry, by id. */
async function postBatch(em: EntityManager, afterId: string): Promise<string[]> {
  const db = em.getKysely();
  const { rows } = await sql<{ id: string }>`
    select a.id from accounts a
    where a.id > ${afterId} and a.ledger_seq > coalesce((
      select l.seq from ledger_entries l where l.account_id = a.id order by l.seq desc limit 1), 0)
    order by a.id limit ${BATCH} for no key update of a skip locked`.execute(db);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await sql`select post_charges(${ids}::uuid[])`.execute(db);
  return ids;
}
