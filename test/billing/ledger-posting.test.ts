import { parseMoney } from '../../src/lib/money.js';
import { postLedgerEntry } from '../../src/services/billing/ledger.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { brokenLedgers, insertAccount, ledgerOf } from './fixtures.js';

describe('postLedgerEntry', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const post = (accountId: string, amount: bigint, idempotencyKey?: string) =>
    db.orm.em
      .fork()
      .transactional((em) =>
        postLedgerEntry(em, { accountId, kind: 'adjustment', amount, idempotencyKey, now: Date.now() }),
      );

  test('30 concurrent writers leave no gap, and the balance is the sum', async () => {
    const accountId = await insertAccount(db);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => post(accountId, BigInt(index * 7 - 50))),
    );
    const seqs = answers.map((answer) => (answer === 'duplicate' ? 0n : answer.seq));
    expect([...seqs].sort((a, b) => Number(a - b))).toEqual(
      Array.from({ length: 30 }, (_, i) => BigInt(i + 1)),
    );
    expect(await brokenLedgers(db)).toEqual([]);
    const account = await db.pool.query('select balance::text from accounts where id = $1', [accountId]);
    expect(parseMoney(account.rows[0].balance)).toBe((29n * 30n * 7n) / 2n - 50n * 30n);
  });

  test('one key writes one entry, however many writers use it at once', async () => {
    const accountId = await insertAccount(db);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(accountId, 5n, 'x')));
    expect(answers.filter((answer) => answer !== 'duplicate')).toHaveLength(1);
    expect(await ledgerOf(db, accountId)).toEqual([
      {
        seq: '1',
        kind: 'adjustment',
        amount: '0.000000000005',
        balance_after: '0.000000000005',
        idempotency_key: 'x',
      },
    ]);
  });

  test('a key belongs to its account', async () => {
    const [one, two] = [await insertAccount(db), await insertAccount(db)];
    await post(one, 1n, 'shared');
    expect(await post(two, 1n, 'shared')).not.toBe('duplicate');
  });

  test('a rolled-back transaction leaves no entry and no sequence number', async () => {
    const accountId = await insertAccount(db);
    const failing = db.orm.em.fork().transactional(async (em) => {
      await postLedgerEntry(em, { accountId, kind: 'adjustment', amount: 1n, now: Date.now() });
      throw new Error('late fault');
    });
    await expect(failing).rejects.toThrow('late fault');
    expect(await post(accountId, 2n)).toMatchObject({ seq: 1n, balanceAfter: 2n });
  });

  test('it refuses to work outside a transaction', async () => {
    const accountId = await insertAccount(db);
    const posting = { accountId, kind: 'adjustment', amount: 1n, now: Date.now() } as const;
    await expect(postLedgerEntry(db.orm.em.fork(), posting)).rejects.toThrow('needs a transaction');
    expect(await ledgerOf(db, accountId)).toEqual([]);
  });

  test('random operations by several writers keep every account true', async () => {
    const operation = fc.record({
      account: fc.nat(2),
      amount: fc.bigInt(-(10n ** 18n), 10n ** 18n),
      key: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
        const accounts = await Promise.all([insertAccount(db), insertAccount(db), insertAccount(db)]);
        const answers = await Promise.all(
          operations.map(({ account, amount, key }) => post(accounts[account]!, amount, key)),
        );
        const written = (await Promise.all(accounts.map((id) => ledgerOf(db, id)))).flat().length;
        const distinct = new Set(
          operations.map(({ account, key }, index) => `${account}:${key === undefined ? `#${index}` : key}`),
        );
        expect(written).toBe(distinct.size);
        expect(answers.filter((answer) => answer !== 'duplicate')).toHaveLength(distinct.size);
        expect(await brokenLedgers(db)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
