import { sha256 } from '../../src/lib/crypto.js';
import { hasKeyForm } from '../../src/lib/key-form.js';
import { createKeyInput } from '../../src/services/keys/keys.inputs.js';
import { MAX_KEYS, virtualKeyField } from '../../src/services/keys/keys.rules.js';
import { contextOf, insertAccount } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type Behaviour,
  HASTY_MS,
  type KeyProxy,
  keysServiceAt,
  startKeyProxy,
  virtualKeyEnvelope,
} from './fixtures.js';

const NOW = Date.UTC(2026, 10, 21, 8, 55, 57, 123);

describe('creating a key', () => {
  let db: TestDatabase;
  let proxy: KeyProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    proxy = await startKeyProxy();
  });
  afterEach(() => proxy.close());

  const rowOf = async (id: string) =>
    (await db.pool.query('select * from api_keys where id = $1', [id])).rows[0];
  const fillUp = (accountId: string, keys: number) =>
    db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
       select gen_random_uuid(), $1, 'k', 'sk-pr-xxxx', 'yyyy', sha256(gen_random_uuid()::text::bytea), now()
       from generate_series(1, $2::int)`,
      [accountId, keys],
    );

  test('returns the secret once and stores its prefix, last four characters and hash', async () => {
    const accountId = await insertAccount(db);
    const created = await keysServiceAt(proxy.url).create(
      contextOf(db, accountId, () => NOW),
      { name: 'laptop' },
    );
    expect(hasKeyForm(created.key)).toBe(true);
    expect(created.api_key).toEqual({
      id: expect.any(String),
      name: 'laptop',
      key_prefix: created.key.slice(0, 10),
      last_four: created.key.slice(-4),
      status: 'active',
      monthly_limit_usd: null,
      daily_limit_usd: null,
      guard: null,
      guard_status: 'off',
      guard_acted_at: null,
      spend_today_usd: '0.000000',
      spend_month_usd: '0.000000',
      has_upstream: true,
      last_used_at: null,
      created_at: '2026-11-21T08:55:57.123000Z',
    });
    const row = await rowOf(created.api_key.id);
    expect(row.key_hash).toEqual(sha256(created.key));
    expect(JSON.stringify(row)).not.toContain(created.key.slice(10, -4));
  });

  test('the virtual key is created for the account and stored sealed in its own row', async () => {
    const accountId = await insertAccount(db);
    const { api_key } = await keysServiceAt(proxy.url).create(contextOf(db, accountId), { name: 'a' });
    const [[virtualKey, madeFor]] = [...proxy.keys] as [[string, string]];
    expect(madeFor).toBe(accountId);
    const { virtual_key_sealed: sealed } = await rowOf(api_key.id);
    expect(sealed).not.toContain(virtualKey);
    expect(virtualKeyEnvelope.open(sealed, virtualKeyField(api_key.id)).toString()).toBe(virtualKey);
    expect(() => virtualKeyEnvelope.open(sealed, virtualKeyField(accountId))).toThrow();
  });

  test.each<Behaviour>(['refuses', 'hangs', 'trickles', 'garbage', 'wrong shape', 'floods', 'hangs up'])(
    'with a proxy that %s the key is created without a virtual key',
    async (behaviour) => {
      proxy.behaviour = behaviour;
      const context = contextOf(db, await insertAccount(db));
      const never = behaviour === 'hangs' || behaviour === 'trickles';
      const service = keysServiceAt(proxy.url, never ? HASTY_MS : undefined);
      const created = await service.create(context, { name: 'a' });
      expect(created.api_key).toMatchObject({ has_upstream: false, status: 'active' });
      expect((await rowOf(created.api_key.id)).virtual_key_sealed).toBeNull();
    },
  );

  test('with a proxy that is down the key is created without a virtual key', async () => {
    const context = contextOf(db, await insertAccount(db));
    const { api_key } = await keysServiceAt('http://127.0.0.1:1').create(context, { name: 'a' });
    expect(api_key.has_upstream).toBe(false);
  });

  test(`key ${MAX_KEYS + 1} is refused before the proxy is asked`, async () => {
    const accountId = await insertAccount(db);
    await fillUp(accountId, MAX_KEYS);
    await expect(
      keysServiceAt(proxy.url).create(contextOf(db, accountId), { name: 'a' }),
    ).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('at most 100 API keys'),
      options: { details: [{ field: 'body', message: expect.stringContaining('at most 100 API keys') }] },
    });
    expect(proxy.calls).toEqual([]);
  });

  test("concurrent calls can't exceed the limit, and refused ones leave no virtual key", async () => {
    const accountId = await insertAccount(db);
    await fillUp(accountId, MAX_KEYS - 3);
    const service = keysServiceAt(proxy.url);
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        service.create(contextOf(db, accountId), { name: `k${index}` }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(3);
    const counted = await db.pool.query('select count(*)::int as n from api_keys where account_id = $1', [
      accountId,
    ]);
    expect(counted.rows[0].n).toBe(MAX_KEYS);
    expect(proxy.keys.size).toBe(3);
  });

  test('an account that was deleted or disabled in the meantime gets no key and no virtual key', async () => {
    const accountId = await insertAccount(db, { status: 'disabled' });
    await expect(
      keysServiceAt(proxy.url).create(contextOf(db, accountId), { name: 'a' }),
    ).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(proxy.calls).toEqual([]);
  });

  test('the name is trimmed and has 1 to 100 characters; unknown fields are refused', () => {
    expect(createKeyInput.parse({ name: '  laptop ' })).toEqual({ name: 'laptop' });
    expect(createKeyInput.safeParse({ name: 'x'.repeat(100) }).success).toBe(true);
    for (const name of ['', '   ', 'x'.repeat(101), 'a\u0000b', 'a\nb', '\ud800', 7, null, undefined]) {
      expect({ name, success: createKeyInput.safeParse({ name }).success }).toEqual({ name, success: false });
    }
    expect(createKeyInput.safeParse({ name: 'a', key: 'sk-pr-mine' }).success).toBe(false);
  });
});
