import { readFileSync } from 'node:fs';
import { createLogger } from '../../src/lib/logger.js';
import { PseudonymKeyError } from '../../src/services/accounts/pseudonym-key.store.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { ask, FAST, type Session, writeSession } from '../playground/support.js';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  startTestPlatform,
  type TestPlatform,
  type TestPlatformOptions,
  testConfig,
} from '../support/platform.js';
import { TEST_SECRETS } from '../support/secrets.js';

const NEW = {
  JWT_SECRET: 'another-jwt-secret-of-the-tests-0123456789',
  ENCRYPTION_KEY: 'another-encryption-key-of-the-tests-012345',
};
const ROTATED = {
  ...NEW,
  JWT_SECRET_PREVIOUS: TEST_SECRETS.JWT_SECRET,
  ENCRYPTION_KEY_PREVIOUS: TEST_SECRETS.ENCRYPTION_KEY,
};

describe('a rotation of JWT_SECRET and ENCRYPTION_KEY', () => {
  let db: TestDatabase;
  const log = createLogger('test', 'silent');
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.close());

  const withPlatform = async <T>(
    env: Record<string, string>,
    use: (platform: TestPlatform) => Promise<T>,
    options: TestPlatformOptions = {},
  ): Promise<T> => {
    await migrateAndSeed(db.orm, testConfig(db.url, env), log);
    const platform = await startTestPlatform(db, { env, ...options });
    try {
      return await use(platform);
    } finally {
      await platform.close();
    }
  };
  const balanceOf = async (url: string, email: string): Promise<string> => {
    const { token } = await signUp(url, { email });
    const me = await call<{ balance_usd: string }>(url, 'GET', '/api/auth/me', { token });
    await call(url, 'DELETE', '/api/auth/me', { token, body: { password: PASSWORD } });
    return me.body.balance_usd;
  };
  const sealedKey = async (): Promise<string> =>
    (await db.pool.query<{ sealed: string }>('select sealed from sealed_secrets')).rows[0]!.sealed;

  test('remembers everybody who had the starter credit, even without the previous secrets', async () => {
    const balances = [];
    for (const env of [{}, ROTATED, NEW]) {
      balances.push(await withPlatform(env, ({ url }) => balanceOf(url, 'once@example.com')));
    }
    expect(balances).toEqual(['1.000000', '0.000000', '0.000000']);
  });

  test('remembers failed log-ins', async () => {
    const env = { TRUST_PROXY: '127.0.0.1/32' };
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const tryOnce = async (url: string) =>
      (
        await call(url, 'POST', '/api/auth/login', {
          body: { email: 'target@example.com', password: 'wrong' },
          headers,
        })
      ).status;
    const before = await withPlatform(env, async ({ url }) => {
      const tries = [];
      for (let at = 0; at < 10; at++) tries.push(await tryOnce(url));
      return tries;
    });
    expect(new Set(before)).toEqual(new Set([401]));
    expect(await withPlatform({ ...env, ...ROTATED }, ({ url }) => tryOnce(url))).toBe(429);
  });

  test('seals the pseudonym key again with the new key, for the same HMACs', async () => {
    const first = await migrateAndSeed(db.orm, testConfig(db.url), log);
    const old = await sealedKey();
    const second = await migrateAndSeed(db.orm, testConfig(db.url, ROTATED), log);
    const renewed = await sealedKey();
    expect(renewed).not.toBe(old);
    await migrateAndSeed(db.orm, testConfig(db.url, NEW), log);
    expect(await sealedKey()).toBe(renewed);
    expect(second.mail('A@example.com')).toBe(first.mail('a@example.com'));
    expect(second.network('192.0.2.0/24')).toBe(first.network('192.0.2.0/24'));
  });

  test('without the previous ENCRYPTION_KEY stops the start and keeps the data', async () => {
    await migrateAndSeed(db.orm, testConfig(db.url), log);
    const before = await sealedKey();
    await expect(migrateAndSeed(db.orm, testConfig(db.url, NEW), log)).rejects.toThrow(PseudonymKeyError);
    expect(await sealedKey()).toBe(before);
  });

  test('after a lost ENCRYPTION_KEY is reported by the playground, which starts over as documented', async () => {
    const { token } = await withPlatform({}, async ({ url }) => {
      const account = await signUp(url);
      await writeSession(db.pool, account.user.id, 'Sealed with the lost key.');
      return account;
    });
    const env = { ENCRYPTION_KEY: NEW.ENCRYPTION_KEY };
    await db.pool.query('delete from sealed_secrets');
    await withPlatform(env, async ({ url }) => {
      const { status, body } = await call<ErrorAnswer>(url, 'GET', '/api/playground', { token });
      expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
      expect(body.error.message).toMatch(/encryption key .* has changed/);
    });
    const [, statements] = /```sql\n([^`]*delete from sealed_secrets[^`]*)```/.exec(
      readFileSync('docs/operations.md', 'utf8'),
    )!;
    await db.pool.query(statements!);
    const virtualKeys = { generate: async () => 'sk-new-key', remove: async () => undefined };
    await withPlatform(
      env,
      async ({ url }) => {
        const list = async () => (await call<Session[]>(url, 'GET', '/api/playground', { token })).body;
        expect(await list()).toEqual([]);
        // Nothing answers upstream: the run fails, and its prompt is kept.
        expect((await ask(url, token, [FAST], 'Sealed again.')).status).toBe(201);
        expect((await list()).map(({ prompt }) => prompt)).toEqual(['Sealed again.']);
      },
      { virtualKeys },
    );
  });

  test('many first starts at once agree on one key', async () => {
    const config = testConfig(db.url);
    const all = await Promise.all([1, 2, 3, 4].map(() => migrateAndSeed(db.orm, config, log)));
    expect(new Set(all.map((names) => names.mail('a@example.com'))).size).toBe(1);
    const rows = await db.pool.query<{ sealed: string }>('select sealed from sealed_secrets');
    expect(rows.rows).toHaveLength(1);
  });
});
