import type { PoolClient } from 'pg';
import { advisoryLocks } from '../../src/db/locks.js';
import { HOOK } from '../alerts/alerts-api.js';
import { writeSession } from '../playground/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, PASSWORD, signUp, type UserFields } from '../support/api.js';
import { isBlocking } from '../support/blocked.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';

const NEW_PASSWORD = 'another battery staples horses';

/** A request may wait for its account for seconds. What ends its session in that time counts. */
describe('a request whose session ends while it waits', () => {
  const suite = usePlatform();
  let holder: PoolClient;
  let token: string;
  let user: UserFields;
  beforeEach(async () => {
    holder = await suite.db.pool.connect();
    ({ token, user } = await signUp(suite.url));
  });
  afterEach(async () => {
    await holder.query('rollback');
    holder.release();
  });

  /** Changes the account as another request would, up to its commit. */
  const begin = async (id: string, change: string): Promise<void> => {
    await holder.query('begin');
    await holder.query(`update accounts set ${change}, token_version = token_version + 1 where id = $1`, [
      id,
    ]);
  };
  const waits = () => isBlocking(suite.db.pool, holder);
  const endMeanwhile = async (request: Promise<{ status: number }>): Promise<number> => {
    await until(waits, { what: 'the request to wait for the account' });
    await holder.query('commit');
    return (await request).status;
  };
  const count = async (table: 'api_keys' | 'widgets'): Promise<number> => {
    const { rows } = await suite.db.pool.query(`select 1 from ${table} where account_id = $1`, [user.id]);
    return rows.length;
  };

  test.each([
    ['api_keys', '/api/keys', { name: 'Production' }],
    ['widgets', '/api/widgets', { name: 'Shop', model_public_name: 'gateway/fast' }],
  ] as const)('creates nothing in %s', async (table, path, body) => {
    await begin(user.id, "password_hash = 'taken over'");
    expect(await endMeanwhile(call(suite.url, 'POST', path, { token, body }))).toBe(401);
    expect(await count(table)).toBe(0);
  });

  test("doesn't raise the limit of a key", async () => {
    const created = await call<{ api_key: { id: string } }>(suite.url, 'POST', '/api/keys', {
      token,
      body: { name: 'Production' },
    });
    await begin(user.id, 'surviving_session_id = null');
    const path = `/api/keys/${created.body.api_key.id}`;
    expect(
      await endMeanwhile(call(suite.url, 'PATCH', path, { token, body: { monthly_limit_usd: 900 } })),
    ).toBe(401);
    const { rows } = await suite.db.pool.query(
      'select monthly_limit_usd from api_keys where account_id = $1',
      [user.id],
    );
    expect(rows).toEqual([{ monthly_limit_usd: null }]);
  });

  test('creates nothing after a log-out, which takes no lock', async () => {
    await holder.query('begin');
    await holder.query('select 1 from accounts where id = $1 for update', [user.id]);
    const request = call(suite.url, 'POST', '/api/keys', { token, body: { name: 'Production' } });
    await until(waits, { what: 'the request to wait for the account' });
    expect((await call(suite.url, 'POST', '/api/auth/logout', { token })).status).toBe(204);
    await holder.query('commit');
    expect((await request).status).toBe(401);
    expect(await count('api_keys')).toBe(0);
  });

  test("changes no password, so the ended session doesn't survive", async () => {
    await begin(user.id, "role = 'admin'");
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect(await endMeanwhile(call(suite.url, 'POST', '/api/auth/password', { token, body }))).toBe(401);
    expect((await call(suite.url, 'GET', '/api/auth/me', { token })).status).toBe(401);
  });

  test('continues in the session that changed the password', async () => {
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect((await call(suite.url, 'POST', '/api/auth/password', { token, body })).status).toBe(204);
    expect((await call(suite.url, 'POST', '/api/keys', { token, body: { name: 'Next' } })).status).toBe(201);
  });

  test("doesn't let administrators undo their own removal", async () => {
    const admin = await signUpAdmin(suite);
    await begin(admin.user.id, "role = 'user'");
    const undo = call<ErrorAnswer>(suite.url, 'PATCH', `/api/admin/users/${admin.user.id}`, {
      token: admin.token,
      body: { status: 'active', role: 'admin' },
    });
    expect(await endMeanwhile(undo)).toBe(401);
    const { rows } = await suite.db.pool.query('select role from accounts where id = $1', [admin.user.id]);
    expect(rows).toEqual([{ role: 'user' }]);
  });

  test("doesn't let administrators demote others when they were demoted before their turn", async () => {
    const admin = await signUpAdmin(suite);
    const other = await signUpAdmin(suite);
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [advisoryLocks.administrators]);
    const demotion = call(suite.url, 'PATCH', `/api/admin/users/${other.user.id}`, {
      token: admin.token,
      body: { role: 'user' },
    });
    await until(waits, { what: 'the request to wait for its turn' });
    await suite.db.pool.query(
      "update accounts set role = 'user', token_version = token_version + 1 where id = $1",
      [admin.user.id],
    );
    await holder.query('commit');
    expect((await demotion).status).toBe(401);
    const { rows } = await suite.db.pool.query('select role from accounts where id = $1', [other.user.id]);
    expect(rows).toEqual([{ role: 'admin' }]);
  });

  describe('for an object of the account', () => {
    const tables = ['api_keys', 'alert_subscriptions', 'prompts', 'widgets', 'playground_sessions'] as const;
    type Table = (typeof tables)[number];
    const send = (method: string, path: string, body?: unknown) =>
      call<{ id: string }>(suite.url, method, path, { token, ...(body !== undefined && { body }) });
    const create = async (path: string, body: unknown): Promise<string> => {
      const answer = await send('POST', path, body);
      expect(answer.status).toBe(201);
      return answer.body.id;
    };
    const alert = { kind: 'webhook', destination: HOOK, thresholds_pct: [80] };

    /** Paths of one object of each kind. */
    let paths: Record<Table, string>;
    beforeEach(async () => {
      const { body } = await call<{ api_key: { id: string } }>(suite.url, 'POST', '/api/keys', {
        token,
        body: { name: 'Production' },
      });
      const key = `/api/keys/${body.api_key.id}`;
      const widget = { name: 'Shop', model_public_name: 'gateway/fast' };
      paths = {
        api_keys: key,
        alert_subscriptions: `${key}/alerts/${await create(`${key}/alerts`, alert)}`,
        prompts: `/api/prompts/${await create('/api/prompts', { name: 'Greeting', content: 'Hello' })}`,
        widgets: `/api/widgets/${await create('/api/widgets', widget)}`,
        playground_sessions: `/api/playground/${await writeSession(suite.db.pool, user.id, 'Hello')}`,
      };
    });
    const rows = async () => {
      const read = tables.map((table) =>
        suite.db.pool.query(`select to_jsonb(t) as row from ${table} t where account_id = $1 order by id`, [
          user.id,
        ]),
      );
      return (await Promise.all(read)).map((result) => result.rows);
    };
    const hold = async (table: Table): Promise<void> => {
      await holder.query('begin');
      await holder.query(`select 1 from ${table} where account_id = $1 for update`, [user.id]);
    };

    test.each<[Table, string, string, unknown]>([
      ['api_keys', 'PATCH', '', { name: 'Taken over' }],
      ['api_keys', 'DELETE', '', undefined],
      ['api_keys', 'POST', '/alerts', alert],
      ['alert_subscriptions', 'PATCH', '', { active: false }],
      ['alert_subscriptions', 'POST', '/rotate-secret', undefined],
      ['alert_subscriptions', 'DELETE', '', undefined],
      ['prompts', 'PATCH', '', { name: 'Taken over' }],
      ['prompts', 'POST', '/versions', { content: 'Taken over' }],
      ['prompts', 'DELETE', '', undefined],
      ['widgets', 'PATCH', '', { name: 'Taken over' }],
      ['widgets', 'POST', '/rotate-key', undefined],
      ['widgets', 'DELETE', '', undefined],
      ['playground_sessions', 'DELETE', '', undefined],
      ['playground_sessions', 'DELETE', '/share', undefined],
    ])('changes nothing: %s, %s %s', async (table, method, path, body) => {
      const before = await rows();
      await hold(table);
      const request = send(method, `${paths[table]}${path}`, body);
      await until(waits, { what: 'the request to wait for the object' });
      expect((await send('POST', '/api/auth/logout')).status).toBe(204);
      await holder.query('commit');
      expect([(await request).status, await rows()]).toEqual([401, before]);
    });

    test('creates no widget with a prompt that it waited for', async () => {
      const before = await rows();
      await hold('prompts');
      const prompt = paths.prompts.slice('/api/prompts/'.length);
      const widget = { name: 'Second', model_public_name: 'gateway/fast', prompt_id: prompt };
      const request = send('POST', '/api/widgets', widget);
      await until(waits, { what: 'the request to wait for the prompt' });
      expect((await send('POST', '/api/auth/logout')).status).toBe(204);
      await holder.query('commit');
      expect([(await request).status, await rows()]).toEqual([401, before]);
    });

    test("undoes no action of a key's guard", async () => {
      const guards = 'key_guards where key_id in (select id from api_keys where account_id = $1)';
      const undone = async () =>
        (await suite.db.pool.query(`select undone from ${guards}`, [user.id])).rows[0]?.undone;
      await suite.db.pool.query(
        `insert into key_guards (key_id, at_pct, action, acted_month, acted_at)
         select id, 80, 'disable', to_char(now() at time zone 'UTC', 'YYYY-MM'), now()
         from api_keys where account_id = $1`,
        [user.id],
      );
      await holder.query('begin');
      await holder.query(`select from ${guards} for update`, [user.id]);
      const request = send('POST', `${paths.api_keys}/guard/undo`);
      await until(waits, { what: 'the request to wait for the guard' });
      expect((await send('POST', '/api/auth/logout')).status).toBe(204);
      await holder.query('commit');
      const seen = [(await request).status, await undone()];
      // This guard has no alert event. Other files share the database, and their audit would report that.
      await suite.db.pool.query(`delete from ${guards}`, [user.id]);
      expect(seen).toEqual([401, false]);
    });

    test.each<[Table, string, string, unknown, number]>([
      ['api_keys', 'POST', '/alerts', alert, 201],
      ['api_keys', 'DELETE', '', undefined, 204],
    ])('takes effect before a later deletion of the account: %s, %s %s', async (...given) => {
      const [table, method, path, body, status] = given;
      await hold(table);
      const request = send(method, `${paths[table]}${path}`, body);
      await until(waits, { what: 'the request to wait for the object' });
      const deletion = send('DELETE', '/api/auth/me', { password: PASSWORD });
      const waiting = async () =>
        (
          await suite.db.pool.query(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).rowCount;
      await until(async () => (await waiting())! > 1, { what: 'the deletion to wait as well' });
      await holder.query('commit');
      expect([(await request).status, (await deletion).status]).toEqual([status, 204]);
    });
  });
});
