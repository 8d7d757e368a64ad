import { flushBatch } from '../../src/metering/flush.store.js';
import type { AlertEventOutput } from '../../src/services/alerts/alerts.outputs.js';
import { disableSubscription, finishAlert } from '../../src/services/alerts/delivery.store.js';
import { PASSWORD } from '../support/api.js';
import { until } from '../support/until.js';
import { HOOK, useAlertsApi } from './alerts-api.js';
import { callOf, eventsOf } from './support.js';

describe('alert events over HTTP', () => {
  const api = useAlertsApi();
  const { send, create, fire, finish } = api;
  /** Moves what the account has asked for into the past. */
  const later = async (interval: string) => {
    const { accountId } = api.payer;
    await api.db.pool.query(
      'update alert_events set pending_since = pending_since - $2::interval where account_id = $1',
      [accountId, interval],
    );
    await api.db.pool.query(
      `update network_counts set ends_at = ends_at - $2::interval where name like '%:' || $1`,
      [accountId, interval],
    );
  };
  /** Statements in the database that wait for a lock. */
  const waiting = async () =>
    (
      await api.db.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rowCount;

  test('events of a key and of the account describe what fired, newest first', async () => {
    const alert = await create({ thresholds_pct: [50, 80] });
    await fire(60);
    await fire(30);
    const events = await send<AlertEventOutput[]>('GET', `/api/keys/${api.payer.keyId}/alert-events`);
    expect(events.body).toEqual([
      expect.objectContaining({ threshold_pct: 80, mtd_spend_usd: '0.900000' }),
      {
        id: expect.any(String),
        purpose: 'threshold',
        key_id: api.payer.keyId,
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
        guard_action: null,
        guard_model_public_name: null,
      },
    ]);
    expect((await send('GET', '/api/alert-events')).body).toEqual(events.body);
    const newest = await send<AlertEventOutput[]>('GET', `/api/keys/${api.payer.keyId}/alert-events?limit=1`);
    expect(newest.body).toEqual(events.body.slice(0, 1));
    expect((await send('GET', '/api/alert-events?limit=1&offset=1')).body).toEqual(events.body.slice(1));
    expect((await send('GET', `/api/keys/${api.payer.keyId}/alert-events?limit=501`)).status).toBe(422);
    // Without its key the account still sees them.
    await send('DELETE', `/api/keys/${api.payer.keyId}`);
    expect((await send('GET', `/api/keys/${api.payer.keyId}/alert-events`)).status).toBe(404);
    expect((await send('GET', '/api/alert-events')).body).toEqual(events.body);
  });

  test('a test is pending at once, whether the subscription is on or off', async () => {
    await fire(25);
    const { id } = await create({ thresholds_pct: [70, 90], active: false });
    const sent = await send<AlertEventOutput>('POST', `${api.alerts}/${id}/test`);
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
    const { rows } = await api.db.pool.query(
      `select 1 from alert_events where id = $1 and next_attempt_at <= now() and key_prefix like 'sk-pr-%…%'`,
      [sent.body.id],
    );
    expect(rows).toHaveLength(1);
  });

  test.each(['a test', 'a repetition'])(
    '%s during the deletion of its account leaves no destination behind',
    async (what) => {
      const { id } = await create({ thresholds_pct: [50] });
      await fire();
      await finish('failed');
      const [event] = await eventsOf(api.db.pool, api.payer);
      const { accountId } = api.payer;
      // Holds the deletion up behind the events that it has cleaned already.
      const holder = await api.db.pool.connect();
      await holder.query('begin');
      await holder.query('select from known_networks where account_id = $1 for update', [accountId]);
      const deletion = send('DELETE', '/api/auth/me', { password: PASSWORD });
      await until(async () => (await waiting()) === 1);
      const path =
        what === 'a test' ? `${api.alerts}/${id}/test` : `/api/alert-events/${event!.id}/redeliver`;
      let answered = false;
      const asked = send('POST', path).finally(() => {
        answered = true;
      });
      await until(async () => answered || (await waiting()) === 2);
      await holder.query('commit');
      holder.release();
      expect([(await deletion).status, (await asked).status]).toEqual([204, 401]);
      const { rows } = await api.db.pool.query(
        'select destination, key_name, delivery_status from alert_events where account_id = $1',
        [accountId],
      );
      expect(rows).toEqual([{ destination: '', key_name: null, delivery_status: 'failed' }]);
    },
  );

  test("a 410 during the deletion of its account doesn't stop the deletion", async () => {
    const { id } = await create();
    await fire();
    const [event] = await eventsOf(api.db.pool, api.payer);
    // As a delivery records it: the event first, then its subscription.
    const em = api.db.orm.em.fork();
    await em.begin();
    const end = { status: 'failed', responseCode: 410, error: 'gone' } as const;
    expect(await finishAlert(em, { id: event!.id, token: '0' }, end)).toBe(true);
    const deletion = send('DELETE', '/api/auth/me', { password: PASSWORD });
    await until(async () => (await waiting()) === 1);
    await disableSubscription(em, { id, destination: HOOK, reason: 'gone' });
    await em.commit();
    expect((await deletion).status).toBe(204);
    expect(await eventsOf(api.db.pool, api.payer)).toMatchObject([
      { destination: '', delivery_status: 'failed', error_message: 'gone' },
    ]);
  });

  test.each(['failed', 'degraded', 'sent'])(
    'an event that is %s is delivered again with the same id',
    async (status) => {
      const { id: alertId } = await create();
      await fire();
      await finish(status);
      const [event] = await eventsOf(api.db.pool, api.payer);
      await send('PATCH', `${api.alerts}/${alertId}`, { destination: `${HOOK}/new` });
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
      const { rows } = await api.db.pool.query(
        `select lease_token::int as token, redeliveries, next_attempt_at <= now() as due from alert_events
         where id = $1`,
        [event!.id],
      );
      expect(rows).toEqual([{ token: 1, redeliveries: 1, due: true }]);
      // Pending: it stays as it is.
      const third = await send<AlertEventOutput>('POST', `/api/alert-events/${event!.id}/redeliver`);
      expect([third.status, third.body]).toEqual([200, again.body]);
    },
  );

  test("an event whose subscription is deleted can't be delivered: 422", async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    await send('DELETE', `${api.alerts}/${id}`);
    const [event] = await eventsOf(api.db.pool, api.payer);
    const answer = await send('POST', `/api/alert-events/${event!.id}/redeliver`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect((await eventsOf(api.db.pool, api.payer))[0]!.delivery_status).toBe('failed');
  });

  test('allows five tests and redeliveries a minute, together, also at once: then 429 with Retry-After', async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    const [event] = await eventsOf(api.db.pool, api.payer);
    expect((await send('POST', `/api/alert-events/${event!.id}/redeliver`)).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: 7 }, () => send('POST', `${api.alerts}/${id}/test`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body.error.code).toBe('rate_limit_exceeded');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    await later('61 s');
    expect((await send('POST', `${api.alerts}/${id}/test`)).status).toBe(201);
  });

  test('an event that is redelivered again and again counts each time', async () => {
    await create();
    await fire();
    const [event] = await eventsOf(api.db.pool, api.payer);
    const statuses = [];
    for (let n = 0; n < 6; n++) {
      await finish('sent');
      statuses.push((await send('POST', `/api/alert-events/${event!.id}/redeliver`)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await eventsOf(api.db.pool, api.payer)).toMatchObject([{ delivery_status: 'sent' }]);
  });

  test('allows ten tests and redeliveries by email a day: then 429, while webhooks continue', async () => {
    const mail = await create({ kind: 'email', destination: 'stranger@example.com' });
    const hook = await create();
    const sent = await send<AlertEventOutput>('POST', `${api.alerts}/${mail.id}/test`);
    for (let n = 1; n < 10; n++) {
      await finish('degraded');
      await later('61 s');
      expect((await send('POST', `/api/alert-events/${sent.body.id}/redeliver`)).status).toBe(200);
    }
    await finish('degraded');
    const refused = await send('POST', `${api.alerts}/${mail.id}/test`);
    expect([refused.status, (await send('POST', `${api.alerts}/${hook.id}/test`)).status]).toEqual([
      429, 201,
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    expect(await eventsOf(api.db.pool, api.payer)).toHaveLength(2);
    // Another day counts from zero, even for an event that was redelivered before.
    await finish('degraded');
    await later('2 days');
    expect((await send('POST', `/api/alert-events/${sent.body.id}/redeliver`)).status).toBe(200);
  });

  test('a low balance alerts once per crossing: a top-up arms it again', async () => {
    const balance = async (threshold_usd: number | string | null) =>
      (await send('PUT', '/api/billing/low-balance-alert', { threshold_usd })).body;
    expect((await send('GET', '/api/billing/low-balance-alert')).body).toEqual({ threshold_usd: null });
    // The starter credit is a dollar.
    expect(await balance(0.5)).toEqual({ threshold_usd: '0.500000' });
    expect(await balance('0.500000')).toEqual({ threshold_usd: '0.500000' });
    const reported = async () =>
      (await eventsOf(api.db.pool, api.payer)).map((event) => [event.purpose, event.balance]);
    await flushBatch(api.db.pool, [callOf(api.payer, 60)]);
    await flushBatch(api.db.pool, [callOf(api.payer, 10)]);
    expect(await reported()).toEqual([['low_balance', '0.4']]);
    await send('POST', '/api/billing/topup', { amount_usd: 10 });
    await flushBatch(api.db.pool, [callOf(api.payer, 900)]);
    expect(await reported()).toHaveLength(1);
    await flushBatch(api.db.pool, [callOf(api.payer, 90)]);
    expect(await reported()).toEqual([
      ['low_balance', '0.4'],
      ['low_balance', '0.4'],
    ]);
    // Below already: nothing was crossed.
    expect(await balance(5)).toEqual({ threshold_usd: '5.000000' });
    await flushBatch(api.db.pool, [callOf(api.payer, 1)]);
    expect(await reported()).toHaveLength(2);
    await finish('degraded');
    const [event] = await eventsOf(api.db.pool, api.payer);
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

  test("a low balance that has alerted doesn't alert again for a new threshold, only after a credit", async () => {
    const put = (threshold_usd: number | null) =>
      send('PUT', '/api/billing/low-balance-alert', { threshold_usd });
    const reported = async () => (await eventsOf(api.db.pool, api.payer)).length;
    await put(0.9);
    await flushBatch(api.db.pool, [callOf(api.payer, 20)]);
    expect(await reported()).toBe(1);
    for (const threshold of [0.7, null, 0.6, 0.5]) await put(threshold);
    await flushBatch(api.db.pool, [callOf(api.payer, 40)]);
    expect(await reported()).toBe(1);
    await send('POST', '/api/billing/topup', { amount_usd: 10 });
    await put(10);
    await flushBatch(api.db.pool, [callOf(api.payer, 50)]);
    expect(await reported()).toBe(2);
  });

  test('a deleted account leaves events without name and address, and nothing to deliver', async () => {
    await create({ kind: 'email', destination: 'ops-canary@example.com' });
    await fire();
    expect((await send('DELETE', '/api/auth/me', { password: PASSWORD })).status).toBe(204);
    expect(await eventsOf(api.db.pool, api.payer)).toMatchObject([
      { destination: '', key_name: null, delivery_status: 'failed', threshold_pct: 80 },
    ]);
    const left = await api.db.pool.query('select 1 from alert_subscriptions where account_id = $1', [
      api.payer.accountId,
    ]);
    expect(left.rows).toEqual([]);
  });
});
