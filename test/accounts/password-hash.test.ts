import { loadConfig } from '../../src/config.js';
import { PASSWORD_PROFILES } from '../../src/lib/password-profiles.js';
import { createPasswords } from '../../src/services/accounts/passwords.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { call, PASSWORD, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { TEST_SECRETS } from '../support/secrets.js';

/** The one suite that hashes as the product does; the others do it as cheaply as argon2 can. */
describe('a password', () => {
  const REAL = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/;
  const ADMIN = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'the password of root' };
  let db: TestDatabase;
  let platform: TestPlatform;
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db, { env: { PASSWORD_HASH_PROFILE: 'owasp', ...ADMIN } });
  });
  afterAll(async () => {
    await platform.close();
    await db.close();
  });

  const statusOfLogin = async (email: string, password: string): Promise<number> =>
    (await call(platform.url, 'POST', '/api/auth/login', { body: { email, password } })).status;
  const storedHash = async (email: string): Promise<string> => {
    const { rows } = await db.pool.query('select password_hash from accounts where email = $1', [email]);
    return rows[0].password_hash;
  };
  /** `$argon2id$v=19$m=19456,t=2,p=1` */
  const parametersOf = (hash: string): string => hash.split('$').slice(0, 4).join('$');

  test('is hashed with the parameters that OWASP recommends unless a setting says otherwise', () => {
    const { passwordHashing } = loadConfig({ DATABASE_URL: db.url, ...TEST_SECRETS }, 'jobs');
    expect(passwordHashing).toEqual({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  });

  test('is stored as such a hash at sign-up, and log-ins are compared with it', async () => {
    await signUp(platform.url, { email: 'real@example.com' });
    expect(await storedHash('real@example.com')).toMatch(REAL);
    expect(await statusOfLogin('real@example.com', PASSWORD)).toBe(200);
    expect(await statusOfLogin('real@example.com', `${PASSWORD} `)).toBe(401);
  });

  test('is stored as such a hash when it is changed', async () => {
    const { token } = await signUp(platform.url, { email: 'changed@example.com' });
    const body = { current_password: PASSWORD, new_password: 'another password of mine' };
    const answer = await call(platform.url, 'POST', '/api/auth/password', { token, body });
    expect(answer.status).toBeLessThan(300);
    expect(await storedHash('changed@example.com')).toMatch(REAL);
    expect(await statusOfLogin('changed@example.com', body.new_password)).toBe(200);
  });

  test('is stored as such a hash for the seeded administrator', async () => {
    await migrateAndSeed(db.orm, platform.config, platform.log);
    expect(await storedHash(ADMIN.ADMIN_EMAIL)).toMatch(REAL);
    expect(await statusOfLogin(ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD)).toBe(200);
  });

  test('hashed with other parameters is still accepted', async () => {
    await signUp(platform.url, { email: 'other@example.com' });
    const cheap = await createPasswords(PASSWORD_PROFILES.test).hash(PASSWORD);
    await db.pool.query(`update accounts set password_hash = $1 where email = 'other@example.com'`, [cheap]);
    expect(await statusOfLogin('other@example.com', PASSWORD)).toBe(200);
    expect(await statusOfLogin('other@example.com', `${PASSWORD} `)).toBe(401);
    expect(await storedHash('other@example.com')).toBe(cheap);
  });

  test('is never hashed cheaply in production', () => {
    const secrets = ['UPSTREAM_MASTER_KEY', 'JWT_SECRET', 'ENCRYPTION_KEY', 'WEBHOOK_SECRET'].map(
      (name, index) => [name, `q7Zp0s9dKxL2mVnB4cYwR8tEhJ6uGfA1iOzXvCbN${index}`],
    );
    const production = { NODE_ENV: 'production', DATABASE_URL: db.url, ...Object.fromEntries(secrets) };
    expect(loadConfig(production, 'jobs').passwordHashing).toBe(PASSWORD_PROFILES.owasp);
    expect(() => loadConfig({ ...production, PASSWORD_HASH_PROFILE: 'test' }, 'jobs')).toThrow(
      /^PASSWORD_HASH_PROFILE: "test" is only for tests and doesn't protect passwords; unset it in production$/,
    );
  });

  test.each(Object.entries(PASSWORD_PROFILES))(
    'for an unknown account is compared with a hash of the same parameters: %s',
    async (_name, parameters) => {
      const passwords = createPasswords(parameters);
      const dummy = await passwords.dummyHash();
      expect(parametersOf(dummy)).toBe(parametersOf(await passwords.hash(PASSWORD)));
      expect(parametersOf(dummy)).toBe(
        `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}`,
      );
      expect(await passwords.dummyHash()).toBe(dummy);
      expect(await passwords.match(PASSWORD, undefined)).toBe(false);
    },
  );

  test("for an unknown account is hashed too, so that response times don't reveal who has one", async () => {
    await signUp(platform.url, { email: 'known@example.com' });
    const emails = ['known@example.com', 'nobody@example.com'] as const;
    const times: Record<string, number[]> = { [emails[0]]: [], [emails[1]]: [] };
    // In turns, so that a busy machine slows both.
    for (let i = 0; i < 15; i++) {
      for (const email of emails) {
        const start = performance.now();
        await statusOfLogin(email, 'a wrong password');
        times[email]!.push(performance.now() - start);
      }
    }
    // The calmest of each: what else the machine does adds to the others.
    const [known, unknown] = emails.map((email) => Math.min(...times[email]!));
    // Without the dummy hash the unknown mail is answered more than five times faster.
    expect(unknown! / known!).toBeGreaterThan(0.4);
    expect(unknown! / known!).toBeLessThan(2.5);
  });
});
