import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { applyFunctions, type FunctionSet } from '../../src/db/apply-functions.js';
import { FUNCTIONS_REVISION } from '../../src/db/functions/revision.js';
import { functions } from '../../src/db/functions.js';
import { migrate } from '../../src/db/migrate.js';
import { schemaIsCurrent } from '../../src/db/schema-version.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/**
 * Hash of the functions of each revision. A changed function fails here: raise FUNCTIONS_REVISION and add a line. A released
 * line stays as it is, because installations compare revisions to find the later of two builds.
 */
const REVISIONS: Record<number, string> = {
  1: '7f81d4dd12c1a7dbba1ffc945f172c6a270d2df539a8b2e0e244cf51a9c81f06',
  2: '3392e19d9e39aef7843959a99cd5336cf961fcc963228fa3c75ed9fd2ff82a22',
  3: '1ccf1d1fbe0fc7449b0fb3c0a7a8124bfb19aec5669c4bd0ef0bae7a91d2841f',
  4: '9497709759b4c73548aa66f0c9f3aa8f6892ffc877ba76a294c5bded728b4c9f',
  5: '128dd1602119f5255816c14f68f927cd2527f7cb9d540c55cff7b5179221778c',
  6: '8262864ec33dd1fd45f2f81c9b35a3d390b08c8f1bcc898879589820987f0653',
  7: '7a0b0d426d76ff8c6d18603d4ff624382db68c1806294603efe203792eab37e9',
  8: '358bb365ae8802c4057931bc56595476521f1e8620c607179a8a0992c5028b38',
  9: '42f8cbfccf6381b16c812e112b03d7dd4fb6b733b34ea6c76ea6175ba045359b',
};

const names = functions.map(({ name }) => name);
const byName = (one: string, other: string): number => (one < other ? -1 : 1);

describe('the functions of the database', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.close());

  /** A build whose `key_month_spend` returns a constant, by which the test recognizes it. */
  const build = (revision: number, answer: number): FunctionSet => ({
    revision,
    functions: functions.map((one) =>
      one.name === 'key_month_spend'
        ? {
            name: one.name,
            sql: `create or replace function key_month_spend(uuid, text) returns numeric language sql stable as $$ select ${answer}::numeric $$`,
          }
        : one,
    ),
  });
  const start = (set?: FunctionSet) => db.orm.em.fork().transactional((em) => applyFunctions(em, set));
  const answer = async (): Promise<number> =>
    (
      await db.pool.query<{ spend: number }>(
        `select key_month_spend(gen_random_uuid(), '2026-01')::float8 as spend`,
      )
    ).rows[0]!.spend;

  test('the database has the functions of the folder and no others', async () => {
    const found = await db.pool.query<{ name: string }>(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace`,
    );
    expect(found.rows.map(({ name }) => name).sort(byName)).toEqual([...names].sort(byName));
    const files = readdirSync('src/db/functions').filter(
      (name) => !/^(?:revision|sql-function|bounded-by-hour)\./.test(name),
    );
    expect(files.map((name) => name.replace('.ts', '').replaceAll('-', '_')).sort(byName)).toEqual(
      [...names].sort(byName),
    );
  });

  test('a changed function has a new revision', () => {
    const hash = createHash('sha256').update(JSON.stringify(functions)).digest('hex');
    expect(Object.keys(REVISIONS).at(-1)).toBe(String(FUNCTIONS_REVISION));
    expect({ [FUNCTIONS_REVISION]: hash }).toEqual({ [FUNCTIONS_REVISION]: REVISIONS[FUNCTIONS_REVISION] });
  });

  test('a start replaces the functions whose text has changed, and no others', async () => {
    expect(await start()).toEqual({ applied: [], newer: [] });
    expect(await start(build(FUNCTIONS_REVISION, 7))).toEqual({ applied: ['key_month_spend'], newer: [] });
    expect(await answer()).toBe(7);
    expect(await start()).toEqual({ applied: ['key_month_spend'], newer: [] });
    expect(await answer()).toBe(0);
  });

  test('functions of a later build stay when an earlier one starts, which works with them', async () => {
    await start(build(FUNCTIONS_REVISION + 1, 7));
    const { functions: found, migrations } = await migrate(db.orm);
    expect({ found, migrations }).toEqual({
      found: { applied: [], newer: ['key_month_spend'] },
      migrations: [],
    });
    expect(await answer()).toBe(7);
    expect(await schemaIsCurrent(db.orm)).toBe(true);
  });

  test('processes that apply no functions wait for them', async () => {
    expect(await schemaIsCurrent(db.orm)).toBe(true);
    for (const name of names) {
      await db.pool.query(
        `comment on function ${name} is 'revision ${FUNCTIONS_REVISION - 1}, sha256 ${'0'.repeat(64)}'`,
      );
    }
    expect(await schemaIsCurrent(db.orm)).toBe(false);
    expect((await start()).applied).toEqual(names);
    expect(await schemaIsCurrent(db.orm)).toBe(true);
  });

  test('processes that start at the same time apply them once', async () => {
    const empty = await createTestDatabase('template0');
    try {
      const starts = await Promise.all(Array.from({ length: 4 }, () => migrate(empty.orm)));
      const applied = starts.flatMap((one) => one.functions.applied);
      expect(applied.sort(byName)).toEqual([...names].sort(byName));
      expect(starts.filter((one) => one.functions.applied.length > 0)).toHaveLength(1);
    } finally {
      await empty.close();
    }
  });
});
