import { flushBatch } from '../../src/metering/flush.store.js';
import type {
  AlertEventOutput,
  AlertOutput,
  CreatedAlertOutput,
} from '../../src/services/alerts/alerts.outputs.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import type { Payer } from '../metering/support.js';
import { call, type ErrorAnswer, PASSWORD, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey } from '../support/edge.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { callOf, eventsOf, limitKey } from './support.js';

/** No name: nothing is asked of DNS. */
const HOOK = 'https://93.184.216.34/hook';
const NOBODY = '0193c1c0-0000-7000-8000-000000000000';

describe('alerts over HTTP', () => {
  let db: TestDatabase;
  let platform: TestPlatform;
  let token: string;
  let payer: Payer;
  let alerts: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = await startTestPlatform(db);
  });
  afterAll(async () => {
    await platform.close();
    await db.close();
  });
  beforeEach(async () => {
    const ada = await signUp(platform.url);
    token = ada.token;
    payer = await createTestKey(db, { accountId: ada.user.id });
    alerts = `/api/keys/${payer.keyId}/alerts`;
  });

  const send = <T = ErrorAnswer>(method: string, path: string, body?: unknown) =>
    call<T>(platform.url, method, path, { token, body });
  const create = async (input: Record<string, unknown> = {}): Promise<CreatedAlertOutput> => {
    const body = { kind: 'webhook', destination: HOOK, thresholds_pct: [80], ...input };
    const answer = await send<CreatedAlertOutput>('POST', alerts, body);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body;
  };
  const fire = async (cents = 90): Promise<void> => {
    await limitKey(db.pool, payer, 1);
    await flushBatch(db.pool, [callOf(payer, cents)]);
  };
  const finish = (status: string) =>
    db.pool.query(
      `update alert_events set delivery_status = $2, next_attempt_at = null, finished_at = now(), attempts = 3,
         response_code = 500, error_message = 'no' where account_id = $1`,
      [payer.accountId, status],
    );

  test('a subscription is made (201, secret once), listed, changed and deleted (204)', async () => {
    const { signing_secret, ...alert } = await create({ thresholds_pct: [100, 5, 80] });
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(alert).toEqual({
      id: expect.any(String),
      key_id: payer.keyId,
      kind: 'webhook',
      destination: HOOK,
      thresholds_pct: [5, 80, 100],
      active: true,
      disabled_reason: null,
      created_at: expect.stringMatching(/\.\d{6}Z$/),
      updated_at: alert.created_at,
    });
    const listed = await send<AlertOutput[]>('GET', alerts);
    expect(listed.body).toEqual([alert]);

    const changed = await send<AlertOutput>('PATCH', `${alerts}/${alert.id}`, {
      active: false,
      thresholds_pct: [9],
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...alert, active: false, thresholds_pct: [9], updated_at: expect.any(String) },
    ]);
    expect(listed.text + changed.text).not.toMatch(/whsec|sealed/);

    const deleted = await send('DELETE', `${alerts}/${alert.id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await send('GET', alerts)).body).toEqual([]);
    expect((await send('DELETE', `${alerts}/${alert.id}`)).status).toBe(404);
  });

  test('a mail subscription has no secret and none to change', async () => {
    const alert = await create({ kind: 'email', destination: 'ops@example.com' });
    expect(alert.signing_secret).toBeNull();
    expect((await send('POST', `${alerts}/${alert.id}/rotate-secret`)).status).toBe(422);
  });

  test('what the database holds of a secret is sealed, and the one before a change goes on signing', async () => {
    const alert = await create();
    const rotated = await send<{ signing_secret: string }>('POST', `${alerts}/${alert.id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const again = await send<{ signing_secret: string }>('POST', `${alerts}/${alert.id}/rotate-secret`);
    const { rows } = await db.pool.query<{ sealed: string }>(
      'select signing_secret_sealed as sealed from alert_subscriptions where id = $1',
      [alert.id],
    );
    const opened = createEnvelopes(platform.config).alertSecret.open(
      rows[0]!.sealed,
      `alert_subscription:${alert.id}:signing_secret`,
    );
    expect(opened.toString().split(' ')).toEqual([again.body.signing_secret, rotated.body.signing_secret]);
    expect(rows[0]!.sealed).not.toContain(alert.signing_secret);
  });

  test.each([
    ['kind', { kind: 'sms' }],
    ['destination', { kind: 'email', destination: 'not a mail' }],
    ['destination', { destination: 'ftp://93.184.216.34/' }],
    ['destination', { destination: 'http://127.0.0.1:8080/' }],
    ['destination', { destination: 'https://user:secret@93.184.216.34/' }],
    ['destination', { destination: `${HOOK}/${'x'.repeat(2_048)}` }],
    ['thresholds_pct', { thresholds_pct: [] }],
    ['thresholds_pct', { thresholds_pct: [1, 2, 3, 4, 5, 6] }],
    ['thresholds_pct', { thresholds_pct: [50, 50] }],
    ['thresholds_pct.0', { thresholds_pct: [0] }],
    ['thresholds_pct.1', { thresholds_pct: [1, 101] }],
    ['thresholds_pct.0', { thresholds_pct: [1.5] }],
    ['thresholds_pct.0', { thresholds_pct: ['50'] }],
    ['active', { active: 'yes' }],
    ['signing_secret', { signing_secret: 'whsec_mine' }],
  ])('422 names %s (%j) and changes nothing', async (field, input) => {
    const body = { kind: 'webhook', destination: HOOK, thresholds_pct: [80], ...input };
    const made = await send('POST', alerts, body);
    expect([made.status, made.body.error.code]).toEqual([422, 'validation_error']);
    expect(made.body.error.details?.map((detail) => detail.field)).toEqual([field]);
    expect((await send('GET', alerts)).body).toEqual([]);
    if ('kind' in input) return;
    const { signing_secret: _secret, ...alert } = await create();
    const changed = await send('PATCH', `${alerts}/${alert.id}`, input);
    // A body of unknown fields alone also changes nothing that is known.
    expect([changed.status, changed.body.error.details?.[0]?.field]).toEqual([422, field]);
    expect((await send('GET', alerts)).body).toEqual([alert]);
  });

  test('a change of nothing is refused, and so is one of the kind', async () => {
    const { id } = await create();
    expect((await send('PATCH', `${alerts}/${id}`, {})).status).toBe(422);
    expect((await send('PATCH', `${alerts}/${id}`, { kind: 'email' })).status).toBe(422);
  });

  test('a key has at most ten, also when they are made at once', async () => {
    const body = { kind: 'email', destination: 'ops@example.com', thresholds_pct: [80] };
    const answers = await Promise.all(Array.from({ length: 12 }, () => send('POST', alerts, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 422, 422]);
    expect((await send<AlertOutput[]>('GET', alerts)).body).toHaveLength(10);
  });

  test('events of a key and of the account tell what fired, newest first', async () => {
    const alert = await create({ thresholds_pct: [50, 80] });
    await fire(60);
    await fire(30);
    const events = await send<AlertEventOutput[]>('GET', `/api/keys/${payer.keyId}/alert-events`);
    expect(events.body).toEqual([
      expect.objectContaining({ threshold_pct: 80, mtd_spend_usd: '0.900000' }),
      {
        id: expect.any(String),
        purpose: 'threshold',
        key_id: payer.keyId,
        key_name: 'test',
        subscription_id: alert.id,
        kind: 'webhook',
        destination: HOOK,
        threshold_pct: 50,
        billing_month: new Date().toISOString().slice(0, 7),
        mtd_spend_usd: '0.600000',
        monthly_limit_usd: '1.000000',
        balance_usd: null,
        fired_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        delivery_status: 'pending',
        attempts: 0,
        response_code: null,
        error_message: null,
        finished_at: null,
      },
    ]);
    expect((await send('GET', '/api/alert-events')).body).toEqual(events.body);
    const newest = await send<AlertEventOutput[]>('GET', `/api/keys/${payer.keyId}/alert-events?limit=1`);
    expect(newest.body).toEqual(events.body.slice(0, 1));
    expect((await send('GET', '/api/alert-events?limit=1&offset=1')).body).toEqual(events.body.slice(1));
    expect((await send('GET', `/api/keys/${payer.keyId}/alert-events?limit=501`)).status).toBe(422);
    // Without its key the account still sees them.
    await send('DELETE', `/api/keys/${payer.keyId}`);
    expect((await send('GET', `/api/keys/${payer.keyId}/alert-events`)).status).toBe(404);
    expect((await send('GET', '/api/alert-events')).body).toEqual(events.body);
  });

  test('a test waits for its delivery at once, whether the subscription is on or off', async () => {
    await fire(25);
    const { id } = await create({ thresholds_pct: [70, 90], active: false });
    const sent = await send<AlertEventOutput>('POST', `${alerts}/${id}/test`);
    expect([sent.status, sent.body]).toEqual([
      201,
      expect.objectContaining({
        purpose: 'test',
        subscription_id: id,
        threshold_pct: 70,
        mtd_spend_usd: '0.250000',
        delivery_status: 'pending',
      }),
    ]);
    const { rows } = await db.pool.query(
      `select 1 from alert_events where id = $1 and next_attempt_at <= now() and key_prefix like 'sk-pr-%…%'`,
      [sent.body.id],
    );
    expect(rows).toHaveLength(1);
  });

  test.each(['failed', 'degraded', 'sent'])(
    'an event that is %s is delivered once more, by the same id',
    async (status) => {
      const { id: alertId } = await create();
      await fire();
      await finish(status);
      const [event] = await eventsOf(db.pool, payer);
      await send('PATCH', `${alerts}/${alertId}`, { destination: `${HOOK}/new` });
      const again = await send<AlertEventOutput>('POST', `/api/alert-events/${event!.id}/redeliver`);
      expect([again.status, again.body]).toEqual([
        200,
        expect.objectContaining({
          id: event!.id,
          delivery_status: 'pending',
          attempts: 0,
          destination: `${HOOK}/new`,
          response_code: null,
          error_message: null,
          finished_at: null,
        }),
      ]);
      const { rows } = await db.pool.query(
        `select lease_token::int as token, redeliveries, next_attempt_at <= now() as due from alert_events`,
      );
      expect(rows).toContainEqual({ token: 1, redeliveries: 1, due: true });
      // Pending: it stays as it is.
      const third = await send<AlertEventOutput>('POST', `/api/alert-events/${event!.id}/redeliver`);
      expect([third.status, third.body]).toEqual([200, again.body]);
    },
  );

  test('an event whose subscription is deleted has nobody to be delivered to: 422', async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    await send('DELETE', `${alerts}/${id}`);
    const [event] = await eventsOf(db.pool, payer);
    const answer = await send('POST', `/api/alert-events/${event!.id}/redeliver`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect((await eventsOf(db.pool, payer))[0]!.delivery_status).toBe('failed');
  });

  test('five tests and repetitions a minute, together, also at once: then 429 with Retry-After', async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    const [event] = await eventsOf(db.pool, payer);
    expect((await send('POST', `/api/alert-events/${event!.id}/redeliver`)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 7 }, () => send('POST', `${alerts}/${id}/test`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body.error.code).toBe('rate_limit_exceeded');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    // A minute later.
    await db.pool.query(`update alert_events set pending_since = pending_since - interval '61 s'`);
    expect((await send('POST', `${alerts}/${id}/test`)).status).toBe(201);
  });

  test('ten tests and repetitions by mail a day, in all: then 429, while webhooks go on', async () => {
    const mail = await create({ kind: 'email', destination: 'stranger@example.com' });
    const hook = await create();
    const sent = await send<AlertEventOutput>('POST', `${alerts}/${mail.id}/test`);
    for (let n = 1; n < 10; n++) {
      await finish('degraded');
      await db.pool.query(`update alert_events set pending_since = pending_since - interval '61 s'`);
      expect((await send('POST', `/api/alert-events/${sent.body.id}/redeliver`)).status).toBe(200);
    }
    await finish('degraded');
    const refused = await send('POST', `${alerts}/${mail.id}/test`);
    expect([refused.status, (await send('POST', `${alerts}/${hook.id}/test`)).status]).toEqual([429, 201]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    expect(await eventsOf(db.pool, payer)).toHaveLength(2);
  });

  test('one that the service switched off says why, until its owner switches it on or leads it elsewhere', async () => {
    for (const change of [{ active: true }, { destination: `${HOOK}/new` }]) {
      const { id } = await create();
      await db.pool.query(
        `update alert_subscriptions set active = false, disabled_reason = 'gone' where id = $1`,
        [id],
      );
      const kept = await send<AlertOutput>('PATCH', `${alerts}/${id}`, { thresholds_pct: [7] });
      expect(kept.body).toMatchObject({ active: false, disabled_reason: 'gone' });
      expect((await send<AlertOutput>('PATCH', `${alerts}/${id}`, change)).body.disabled_reason).toBeNull();
    }
  });

  test("another's key, subscription and event, and those under another key, all answer 404", async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    const [event] = await eventsOf(db.pool, payer);
    const requests: [string, string, unknown?][] = [
      ['GET', alerts],
      ['POST', alerts, { kind: 'email', destination: 'x@example.com', thresholds_pct: [1] }],
      ['PATCH', `${alerts}/${id}`, { active: false }],
      ['POST', `${alerts}/${id}/test`],
      ['POST', `${alerts}/${id}/rotate-secret`],
      ['DELETE', `${alerts}/${id}`],
      ['GET', `/api/keys/${payer.keyId}/alert-events`],
      ['POST', `/api/alert-events/${event!.id}/redeliver`],
    ];
    const before = await eventsOf(db.pool, payer);
    const owner = token;
    const bob = await signUp(platform.url);
    token = bob.token;
    const other = await createTestKey(db, { accountId: bob.user.id });
    for (const [method, path, body] of requests) {
      expect([path, (await send(method, path, body)).status]).toEqual([path, 404]);
      // The same under a key of one's own.
      const own = path.replace(payer.keyId, other.keyId);
      if (own.includes(id)) expect([own, (await send(method, own, body)).status]).toEqual([own, 404]);
    }
    token = owner;
    const second = await createTestKey(db, { accountId: payer.accountId });
    for (const wrong of [second.keyId, NOBODY, 'x', '%00']) {
      for (const [method, path, body] of requests.filter(([, path]) => path.includes(id))) {
        const under = path.replace(payer.keyId, wrong);
        expect([under, (await send(method, under, body)).status]).toEqual([under, 404]);
      }
    }
    expect(await eventsOf(db.pool, payer)).toEqual(before);
    expect((await send<AlertOutput[]>('GET', alerts)).body).toEqual([
      expect.objectContaining({ id, active: true }),
    ]);
  });

  test('a low balance is told once per crossing: a top-up makes the next one tell again', async () => {
    const balance = async (threshold_usd: number | null) =>
      (await send('PUT', '/api/billing/low-balance-alert', { threshold_usd })).body;
    expect((await send('GET', '/api/billing/low-balance-alert')).body).toEqual({ threshold_usd: null });
    // The starter credit is a dollar.
    expect(await balance(0.5)).toEqual({ threshold_usd: '0.500000' });
    const told = async () => (await eventsOf(db.pool, payer)).map((event) => [event.purpose, event.balance]);
    await flushBatch(db.pool, [callOf(payer, 60)]);
    await flushBatch(db.pool, [callOf(payer, 10)]);
    expect(await told()).toEqual([['low_balance', '0.4']]);
    await send('POST', '/api/billing/topup', { amount_usd: 10 });
    await flushBatch(db.pool, [callOf(payer, 900)]);
    expect(await told()).toHaveLength(1);
    await flushBatch(db.pool, [callOf(payer, 90)]);
    expect(await told()).toEqual([
      ['low_balance', '0.4'],
      ['low_balance', '0.4'],
    ]);
    // Below already: nothing was crossed.
    expect(await balance(5)).toEqual({ threshold_usd: '5.000000' });
    await flushBatch(db.pool, [callOf(payer, 1)]);
    expect(await told()).toHaveLength(2);
    await finish('degraded');
    const [event] = await eventsOf(db.pool, payer);
    const again = await send<AlertEventOutput>('POST', `/api/alert-events/${event!.id}/redeliver`);
    expect(again.body).toMatchObject({
      purpose: 'low_balance',
      delivery_status: 'pending',
      balance_usd: '0.400000',
    });
    expect(await balance(null)).toEqual({ threshold_usd: null });
    expect((await send('PUT', '/api/billing/low-balance-alert', { threshold_usd: -1 })).status).toBe(422);
    expect((await send('PUT', '/api/billing/low-balance-alert', {})).status).toBe(422);
  });

  test('a deleted account leaves events without name and address, and nothing to deliver', async () => {
    await create({ kind: 'email', destination: 'ops-canary@example.com' });
    await fire();
    expect((await send('DELETE', '/api/auth/me', { password: PASSWORD })).status).toBe(204);
    expect(await eventsOf(db.pool, payer)).toMatchObject([
      { destination: '', key_name: null, delivery_status: 'failed', threshold_pct: 80 },
    ]);
    const left = await db.pool.query('select 1 from alert_subscriptions where account_id = $1', [
      payer.accountId,
    ]);
    expect(left.rows).toEqual([]);
  });
});
