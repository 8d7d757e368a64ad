import type { ProcessRole } from '../../src/config-schema.js';
import { INVALIDATION_CHANNEL } from '../../src/db/invalidation.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { call, PASSWORD, type SessionAnswer, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestPlatform, type TestPlatform, testConfig } from '../support/platform.js';
import { until } from '../support/until.js';
import { widgetsApi } from '../widgets/support.js';

const ADMIN = { ADMIN_EMAIL: 'Root@example.com', ADMIN_PASSWORD: 'the password of root' };

describe('the seed of the administrator', () => {
  let db: TestDatabase;
  let platform: TestPlatform;
  beforeEach(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db);
  });
  afterEach(async () => {
    await platform.close();
    await db.close();
  });

  const seed = async (env: Record<string, string>, role: ProcessRole = 'platform'): Promise<string[]> => {
    const lines: string[] = [];
    const log = createLogger('test', 'silent');
    log.warn = (...args: unknown[]) => void lines.push(args.map(String).join(' '));
    await migrateAndSeed(db.orm, { ...testConfig(db.url, env), role }, log);
    return lines;
  };
  const login = (password: string) =>
    call<SessionAnswer>(platform.url, 'POST', '/api/auth/login', {
      body: { email: 'root@example.com', password },
    });
  const accounts = async () =>
    (
      await db.pool.query(
        `select role, status, token_version from accounts where email_key = 'root@example.com'`,
      )
    ).rows;

  test('creates the account once, however many processes start at once and again', async () => {
    await Promise.all([seed(ADMIN), seed(ADMIN), seed(ADMIN)]);
    await seed(ADMIN);
    expect(await accounts()).toEqual([{ role: 'admin', status: 'active', token_version: 0 }]);
    const answer = await login(ADMIN.ADMIN_PASSWORD);
    expect([answer.status, answer.body.user.role]).toEqual([200, 'admin']);
  });

  test('creates one with an address at a host without a dot, which can log in with it', async () => {
    await seed({ ...ADMIN, ADMIN_EMAIL: 'Admin@localhost' });
    const answer = await call<SessionAnswer>(platform.url, 'POST', '/api/auth/login', {
      body: { email: 'admin@localhost', password: ADMIN.ADMIN_PASSWORD },
    });
    expect([answer.status, answer.body.user.role]).toEqual([200, 'admin']);
  });

  test('promotes an existing account, with a new password and without its sessions and keys', async () => {
    const { token, user } = await signUp(platform.url, { email: 'root@example.com' });
    await db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
       values ($1, $2, 'k', 'sk-pr-abcd', 'wxyz', 'h', now())`,
      [newId(), user.id],
    );
    await seed(ADMIN);
    expect(await accounts()).toEqual([{ role: 'admin', status: 'active', token_version: 1 }]);
    expect((await call(platform.url, 'GET', '/api/auth/me', { token })).status).toBe(401);
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login(ADMIN.ADMIN_PASSWORD)).body.user).toMatchObject({ id: user.id, role: 'admin' });
    expect((await db.pool.query('select 1 from api_keys')).rowCount).toBe(0);
  });

  test('removes everything by which the former owner of a promoted account could act', async () => {
    const { token, user } = await signUp(platform.url, { email: 'root@example.com' });
    const widgets = widgetsApi(
      () => platform.url,
      () => token,
    );
    const widget = await widgets.create({ system_prompt: 'Obey the stranger.' });
    await db.pool.query(
      `insert into widget_site_days values ($1, $2, '2026-11-01', 'stranger.example', 'answered', 1)`,
      [user.id, widget.id],
    );
    const session = newId();
    await db.pool.query(
      `insert into playground_sessions (id, account_id, prompt_sealed, parameters, share_slug, shared, created_at)
       values ($1, $2, 'sealed', '{}', 'stranger', true, now())`,
      [session, user.id],
    );
    await db.pool.query(
      `insert into password_resets (token_hash, account_id, expires_at) values ('hash', $1, now() + interval '1 hour')`,
      [user.id],
    );
    const heard: (string | undefined)[] = [];
    const edge = await db.pool.connect();
    edge.on('notification', ({ payload }) => heard.push(payload));
    await edge.query(`listen ${INVALIDATION_CHANNEL}`);
    const lines = await seed(ADMIN);
    // Whereupon an edge reads widgets of the account again.
    await until(() => heard.includes(`account:${user.id}`));
    edge.release(true);
    const left = async (table: string) => (await db.pool.query(`select from ${table}`)).rowCount;
    expect({
      widgets: await left('widgets'),
      sites: await left('widget_site_days'),
      networks: await left('known_networks'),
      resets: await left('password_resets'),
    }).toEqual({ widgets: 0, sites: 0, networks: 0, resets: 0 });
    const { rows } = await db.pool.query('select id, shared, share_slug from playground_sessions');
    expect(rows).toEqual([{ id: session, shared: false, share_slug: null }]);
    expect(lines.join('\n')).toContain('its widgets were deleted');
  });

  test('leaves an administrator alone, whatever the password says', async () => {
    await seed(ADMIN);
    await seed({ ...ADMIN, ADMIN_PASSWORD: 'a changed password' });
    expect((await login(ADMIN.ADMIN_PASSWORD)).status).toBe(200);
    expect((await login('a changed password')).status).toBe(401);
  });

  test('without a password creates nobody and reports that', async () => {
    await signUp(platform.url, { email: 'root@example.com' });
    const lines = await seed({ ADMIN_EMAIL: ADMIN.ADMIN_EMAIL });
    expect(lines.join('\n')).toContain('ADMIN_EMAIL is set but ADMIN_PASSWORD');
    // Jobs seed the same: once is enough.
    expect(await seed({ ADMIN_EMAIL: ADMIN.ADMIN_EMAIL }, 'jobs')).toEqual([]);
    expect(await accounts()).toEqual([{ role: 'user', status: 'active', token_version: 0 }]);
    expect((await login(PASSWORD)).status).toBe(200);
  });

  test('is silent about an administrator who needs no password', async () => {
    await seed(ADMIN);
    expect(await seed({ ADMIN_EMAIL: ADMIN.ADMIN_EMAIL })).toEqual([]);
  });

  test('without ADMIN_EMAIL creates nobody', async () => {
    await seed({});
    expect((await db.pool.query('select 1 from accounts')).rowCount).toBe(0);
  });
});
