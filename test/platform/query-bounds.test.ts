import type { Who } from '../bench/data/accounts.js';
import { fillDatabase } from '../bench/data/fill.js';
import { type Measured, measureScreens } from '../bench/data/screens.js';
import { sum } from '../bench/data/table.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { testConfig } from '../support/platform.js';

const EVENTS = 2_000;
const ACCOUNTS = 60;
/** Others' rows that come between the two measurements, for each row of before. */
const OTHERS = 4;
/** Blocks that an operation may read more of, since indexes get deeper and an account's rows lie further apart. */
const SLACK = 30;
const FACTOR = 1.5;

/** Figures of everybody, by hour and model: read whole, and then kept for a while. */
const OF_EVERYBODY = /^(?:Models|GET \/api\/(?:leaderboard|status))/;
/** Of several windows, the longest is enough. */
const SHORTER_WINDOW = /, (?:7|30) days$/;

/** As an account with few rows: what it reads beyond them is others'. */
const isOwn = (name: string, as: Who): boolean =>
  as === 'small' && !OF_EVERYBODY.test(name) && !SHORTER_WINDOW.test(name);

describe('what an account reads', () => {
  let db: TestDatabase;
  let before: Measured[];
  let after: Measured[];

  beforeAll(async () => {
    db = await createTestDatabase();
    // PostgreSQL reads small tables whole because that is cheaper. Here it does so only without an index to use.
    for (const way of ['seqscan', 'hashjoin', 'mergejoin']) {
      await db.pool.query(`alter database ${new URL(db.url).pathname.slice(1)} set enable_${way} = off`);
    }
    const now = Date.now();
    const fill = (events: number, accounts: number, whose: 'all' | 'others') =>
      fillDatabase({
        orm: db.orm,
        url: db.url,
        config: testConfig(db.url),
        size: { events, accounts, days: 1 },
        now,
        whose,
      });
    const measure = () => measureScreens(db.url, isOwn);
    await fill(EVENTS, ACCOUNTS, 'all');
    before = await measure();
    await fill(OTHERS * EVENTS, OTHERS * ACCOUNTS, 'others');
    after = await measure();
  }, 60_000);

  afterAll(() => db?.close());

  test('is what the product would have written', async () => {
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('lets every operation succeed', () => {
    expect(after.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect(after.length).toBeGreaterThan(100);
  });

  test("does not grow with others' rows, in any operation", () => {
    const blocks = ({ statements }: Measured): number => sum(statements, 'buffers');
    const grown = after.flatMap((one, i) => {
      const [then, now] = [blocks(before[i]!), blocks(one)];
      if (now <= then * FACTOR + SLACK) return [];
      const most = one.statements.toSorted((a, b) => b.buffers - a.buffers)[0]!;
      return [`${one.name}: ${then} blocks, then ${now}; most of them by ${most.text}`];
    });
    expect(grown).toEqual([]);
  });
});
