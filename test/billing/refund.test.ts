import { readFileSync } from 'node:fs';
import { balanceOf, createTestKey, errorOf, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { checkInvariants } from '../support/invariants.js';
import { chat } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('usage far beyond the context', () => {
  const suite = useEdge();
  const [, recipe] = /```sql\n([^`]*'ID OF THE CALL'[^`]*)```/.exec(
    readFileSync('docs/operations.md', 'utf8'),
  )!;

  test('is charged, flagged and counted; the procedure in docs/operations.md refunds it once', async () => {
    const { key, accountId } = await createTestKey(suite.db, { balance: '1' });
    const usage = { prompt_tokens: 999_999_999, completion_tokens: 999_999_999 };
    suite.upstream.answer(chat({ usage }));
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    await suite.edge.settled();
    const [event] = await usageOf(suite.db, accountId);
    expect(event).toMatchObject({ anomalous: true, estimated: false, cost: '399.999999600000' });
    expect(await balanceOf(suite.db, accountId)).toBe('-398.999999600000');
    const flags = await suite.edge.registry.getSingleMetric('gateway_flagged_events_total')!.get();
    expect(flags.values.filter(({ value }) => value !== 0)).toEqual([
      expect.objectContaining({ value: 1, labels: { flag: 'anomalous' } }),
    ]);
    const refused = await postChat(suite.edge.url, key);
    expect((await errorOf(refused)).code).toBe('insufficient_credits');

    const refund = recipe!.replace('ID OF THE CALL', event!.id);
    expect((await suite.db.pool.query(refund)).rows[0].balance).toBe('1.000000000000');
    await expect(suite.db.pool.query(refund)).rejects.toThrow(/ledger_entries_idempotency/);
    expect(await balanceOf(suite.db, accountId)).toBe('1.000000000000');
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
    suite.upstream.answer(chat());
    await until(async () => (await postChat(suite.edge.url, key)).status === 200);
  });
});
