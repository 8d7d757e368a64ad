import type { Pool } from 'pg';

/** Every row of every table as text, as a thief of a `pg_dump` would see it. */
export async function dumpTables(pool: Pool): Promise<Map<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
       and not exists (select from pg_partitioned_table
                       where partrelid = format('%I.%I', schemaname, tablename)::regclass)
     order by 1`,
  );
  const dump = new Map<string, string[]>();
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t order by 1`);
    dump.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return dump;
}
