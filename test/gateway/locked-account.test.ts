import type { PoolClient } from 'pg';
import { balanceOf, createTestKey, postChat, type TestKey } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';

/** As long as another customer may wait for a charge, while the lock stays for the whole test. */
const OTHERS_WAIT_MS = 2_000;
/** Of the scripted answer: 12 × $0.10 and 34 × $0.30 per million. */
const AFTER_ONE = '0.999988600000';

describe('a session that has locked an account', () => {
  const suite = useEdge();

  const locked = async (statement: string, ids: string[], work: (session: PoolClient) => Promise<void>) => {
    const session = await suite.db.pool.connect();
    try {
      await session.query('begin');
      await session.query(statement, ids);
      await work(session);
    } finally {
      await session.query('rollback');
      session.release();
    }
  };
  const call = async ({ key }: TestKey) => {
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  };
  const charged = ({ accountId }: TestKey, balance = AFTER_ONE) =>
    until(async () => (await balanceOf(suite.db, accountId)) === balance, {
      timeoutMs: OTHERS_WAIT_MS,
      what: 'the charge',
    });

  test('keeps nobody else from being charged, and its account is charged once the session ends', async () => {
    const victim = await createTestKey(suite.db);
    const others = [await createTestKey(suite.db), await createTestKey(suite.db)];
    await locked('select from accounts where id = $1 for update', [victim.accountId], async () => {
      await Promise.all([victim, ...others].map(call));
      await Promise.all(others.map((other) => charged(other)));
      // Later calls of the account are served as well, and nobody waits for them.
      await Promise.all([call(victim), call(others[0]!)]);
      await charged(others[0]!, '0.999977200000');
      expect(await balanceOf(suite.db, victim.accountId)).toBe('1.000000000000');
    });
    await suite.edge.settled();
    expect(await balanceOf(suite.db, victim.accountId)).toBe('0.999977200000');
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
  });

  test('or another row that its usage needs keeps nobody else from being charged either', async () => {
    const [victim, other] = [await createTestKey(suite.db), await createTestKey(suite.db)];
    for (const payer of [victim, other]) await call(payer);
    await suite.edge.settled();
    const lock = 'select from key_spend_days where key_id = $1 for update';
    await locked(lock, [victim.keyId], async () => {
      await Promise.all([victim, other].map(call));
      await charged(other, '0.999977200000');
      expect(await balanceOf(suite.db, victim.accountId)).toBe(AFTER_ONE);
    });
    await suite.edge.settled();
    expect(await balanceOf(suite.db, victim.accountId)).toBe('0.999977200000');
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
  });
});
