import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createPromptsService } from '../../src/services/prompts/prompts.service.js';
import { contextOf } from '../billing/fixtures.js';
import { recordOf } from '../metering/support.js';
import { createTestKey, postChat, type TestKey } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';

const HEADER = 'x-gateway-prompt-version';

describe('a call that names a version of a prompt', () => {
  const suite = useEdge();
  const prompts = createPromptsService();
  const draft = { name: 'x', content: 'x', variables: [], config: null, notes: null };

  const versionOf = async ({ accountId }: TestKey): Promise<string> =>
    (await prompts.create(contextOf(suite.db, accountId), draft)).active_version_id;

  const recorded = async ({ accountId }: TestKey): Promise<(string | null)[]> => {
    await suite.edge.settled();
    const { rows } = await suite.db.pool.query<{ id: string | null }>(
      'select prompt_version_id as id from usage_events where account_id = $1 order by usage_events.id',
      [accountId],
    );
    return rows.map(({ id }) => id);
  };
  const ask = async ({ key }: TestKey, version?: string): Promise<number> => {
    const body = { model: 'gateway/fast', messages: [{ role: 'user', content: 'hello' }] };
    const response = await postChat(
      suite.edge.url,
      key,
      body,
      version === undefined ? {} : { [HEADER]: version },
    );
    await response.text();
    return response.status;
  };
  const counted = async (name: string): Promise<number> =>
    (await suite.edge.registry.getSingleMetric(name)!.get()).values[0]?.value ?? 0;

  test("is recorded with it, and the header isn't forwarded", async () => {
    const key = await createTestKey(suite.db);
    const version = await versionOf(key);
    expect([await ask(key, version), await ask(key), await ask(key, version.toUpperCase())]).toEqual([
      200, 200, 200,
    ]);
    expect(await recorded(key)).toEqual([version, null, version]);
    for (const request of suite.upstream.seen) expect(Object.keys(request.headers)).not.toContain(HEADER);
  });

  test("is answered as usual if the version is another account's, unknown, gone or malformed, which is counted", async () => {
    const [ada, bob] = [await createTestKey(suite.db), await createTestKey(suite.db)];
    const gone = await versionOf(ada);
    const context = contextOf(suite.db, ada.accountId);
    const { first } = await prompts.list(context, { limit: 1, offset: 0 });
    await prompts.remove(context, { id: first[0]!.id });
    const before = await counted('metering_unknown_prompt_versions_total');
    const malformed = await counted('gateway_malformed_prompt_versions_total');
    for (const named of [await versionOf(bob), newId(), gone, 'no-id', '']) {
      expect(await ask(ada, named)).toBe(200);
    }
    expect(await recorded(ada)).toEqual([null, null, null, null, null]);
    expect((await counted('metering_unknown_prompt_versions_total')) - before).toBe(3);
    expect((await counted('gateway_malformed_prompt_versions_total')) - malformed).toBe(2);
  });

  test('keeps the version in a batch of many, and writing it twice changes nothing', async () => {
    const key = await createTestKey(suite.db);
    const version = await versionOf(key);
    const payer = { accountId: key.accountId, keyId: key.keyId };
    const records = [version, null, newId(), version].map((promptVersionId, n) =>
      recordOf(payer, { promptVersionId, createdAt: Date.now() + n }),
    );
    const first = await flushBatch(suite.db.pool, records);
    expect([first.inserted, first.strangeVersions]).toEqual([4, 1]);
    expect((await flushBatch(suite.db.pool, records)).inserted).toBe(0);
    expect(await recorded(key)).toEqual([version, null, null, version]);
  });
});
