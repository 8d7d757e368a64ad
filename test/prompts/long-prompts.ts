import type { TestDatabase } from '../support/database.js';

/** Characters of four bytes, as many as a content may have. */
const CONTENT = '🌳'.repeat(50_000);

/** Gives an account prompts whose contents have 200 KB each. */
export async function writeLongPrompts(db: TestDatabase, accountId: string, count: number): Promise<void> {
  await db.pool.query(
    `with more as (
       insert into prompts (id, account_id, slug, name, active_version, last_version, characters, created_at, updated_at)
       select gen_random_uuid(), $1, 'long-' || n, 'Long', 1, 1, 50000, now(), now() from generate_series(1, $2::int) n
       returning id)
     insert into prompt_versions (id, prompt_id, version, content, variables, created_at)
     select gen_random_uuid(), id, 1, $3, '[]', now() from more`,
    [accountId, count, CONTENT],
  );
}
