import type { AlertOutput } from '../../src/services/alerts/alerts.outputs.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import { signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { HOOK, useAlertsApi } from './alerts-api.js';
import { eventsOf } from './support.js';

const NOBODY = '0193c1c0-0000-7000-8000-000000000000';

describe('alert subscriptions over HTTP', () => {
  const api = useAlertsApi();
  const { send, create, fire, finish } = api;

  test('a subscription is created (201, secret once), listed, changed and deleted (204)', async () => {
    const { signing_secret, ...alert } = await create({ thresholds_pct: [100, 5, 80] });
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(alert).toEqual({
      id: expect.any(String),
      key_id: api.payer.keyId,
      kind: 'webhook',
      destination: HOOK,
      thresholds_pct: [5, 80, 100],
      active: true,
      disabled_reason: null,
      created_at: expect.stringMatching(/\.\d{6}Z$/),
      updated_at: alert.created_at,
    });
    const listed = await send<AlertOutput[]>('GET', api.alerts);
    expect(listed.body).toEqual([alert]);

    const changed = await send<AlertOutput>('PATCH', `${api.alerts}/${alert.id}`, {
      active: false,
      thresholds_pct: [9],
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...alert, active: false, thresholds_pct: [9], updated_at: expect.any(String) },
    ]);
    expect(listed.text + changed.text).not.toMatch(/whsec|sealed/);

    const deleted = await send('DELETE', `${api.alerts}/${alert.id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await send('GET', api.alerts)).body).toEqual([]);
    expect((await send('DELETE', `${api.alerts}/${alert.id}`)).status).toBe(404);
  });

  test('an email subscription has no secret, and none to rotate', async () => {
    const alert = await create({ kind: 'email', destination: 'ops@example.com' });
    expect(alert.signing_secret).toBeNull();
    expect((await send('POST', `${api.alerts}/${alert.id}/rotate-secret`)).status).toBe(422);
  });

  test('a secret sealed with a lost ENCRYPTION_KEY can be replaced', async () => {
    const alert = await create();
    const lost = createEnvelopes({
      encryptionKey: 'of another installation',
      encryptionKeyPrevious: undefined,
    });
    await api.db.pool.query('update alert_subscriptions set signing_secret_sealed = $2 where id = $1', [
      alert.id,
      lost.alertSecret.seal('whsec_lost', `alert_subscription:${alert.id}:signing_secret`),
    ]);
    const rotated = await send<{ signing_secret: string }>('POST', `${api.alerts}/${alert.id}/rotate-secret`);
    expect([rotated.status, rotated.body.signing_secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
  });

  test('the database stores secrets sealed, and the previous one keeps signing after a rotation', async () => {
    const alert = await create();
    const rotated = await send<{ signing_secret: string }>('POST', `${api.alerts}/${alert.id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const again = await send<{ signing_secret: string }>('POST', `${api.alerts}/${alert.id}/rotate-secret`);
    const { rows } = await api.db.pool.query<{ sealed: string }>(
      'select signing_secret_sealed as sealed from alert_subscriptions where id = $1',
      [alert.id],
    );
    const opened = createEnvelopes(api.platform.config).alertSecret.open(
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
    ['destination', { destination: `${HOOK}/\ud800x` }],
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
    const made = await send('POST', api.alerts, body);
    expect([made.status, made.body.error.code]).toEqual([422, 'validation_error']);
    expect(made.body.error.details?.map((detail) => detail.field)).toEqual([field]);
    expect((await send('GET', api.alerts)).body).toEqual([]);
    if ('kind' in input) return;
    const { signing_secret: _secret, ...alert } = await create();
    const changed = await send('PATCH', `${api.alerts}/${alert.id}`, input);
    // A body of unknown fields alone also changes nothing that is known.
    expect([changed.status, changed.body.error.details?.[0]?.field]).toEqual([422, field]);
    expect((await send('GET', api.alerts)).body).toEqual([alert]);
  });

  test('refuses an empty change, and a change of the kind', async () => {
    const { id } = await create();
    expect((await send('PATCH', `${api.alerts}/${id}`, {})).status).toBe(422);
    expect((await send('PATCH', `${api.alerts}/${id}`, { kind: 'email' })).status).toBe(422);
  });

  test('are listed in pages; invalid pages and unknown parameters are refused', async () => {
    const ids = [await create(), await create(), await create()].map(({ id }) => id).reverse();
    const page = async (query: string) =>
      (await send<AlertOutput[]>('GET', `${api.alerts}?${query}`)).body.map(({ id }) => id);
    expect(await page('limit=2')).toEqual(ids.slice(0, 2));
    expect(await page('limit=2&offset=2')).toEqual(ids.slice(2));
    expect(await page('offset=3')).toEqual([]);
    for (const query of ['limit=0', 'limit=501', 'offset=-1', 'foo=1']) {
      const answer = await send('GET', `${api.alerts}?${query}`);
      expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([422, query.split('=')[0]]);
    }
  });

  test('a key has at most ten, also when they are created at once', async () => {
    const body = { kind: 'email', destination: 'ops@example.com', thresholds_pct: [80] };
    const answers = await Promise.all(Array.from({ length: 12 }, () => send('POST', api.alerts, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 422, 422]);
    expect((await send<AlertOutput[]>('GET', api.alerts)).body).toHaveLength(10);
  });

  test('one that the service disabled gives the reason, until its owner enables it or changes its destination', async () => {
    for (const change of [{ active: true }, { destination: `${HOOK}/new` }]) {
      const { id } = await create();
      await api.db.pool.query(
        `update alert_subscriptions set active = false, disabled_reason = 'gone' where id = $1`,
        [id],
      );
      const kept = await send<AlertOutput>('PATCH', `${api.alerts}/${id}`, { thresholds_pct: [7] });
      expect(kept.body).toMatchObject({ active: false, disabled_reason: 'gone' });
      expect(
        (await send<AlertOutput>('PATCH', `${api.alerts}/${id}`, change)).body.disabled_reason,
      ).toBeNull();
    }
  });

  test("another account's key, subscription and event, and those under another key, all return 404", async () => {
    const { id } = await create();
    await fire();
    await finish('failed');
    const [event] = await eventsOf(api.db.pool, api.payer);
    const requests: [string, string, unknown?][] = [
      ['GET', api.alerts],
      ['POST', api.alerts, { kind: 'email', destination: 'x@example.com', thresholds_pct: [1] }],
      ['PATCH', `${api.alerts}/${id}`, { active: false }],
      ['POST', `${api.alerts}/${id}/test`],
      ['POST', `${api.alerts}/${id}/rotate-secret`],
      ['DELETE', `${api.alerts}/${id}`],
      ['GET', `/api/keys/${api.payer.keyId}/alert-events`],
      ['POST', `/api/alert-events/${event!.id}/redeliver`],
    ];
    const before = await eventsOf(api.db.pool, api.payer);
    const owner = api.token;
    const bob = await signUp(api.url);
    api.token = bob.token;
    const other = await createTestKey(api.db, { accountId: bob.user.id });
    for (const [method, path, body] of requests) {
      expect([path, (await send(method, path, body)).status]).toEqual([path, 404]);
      // The same under a key of one's own.
      const own = path.replace(api.payer.keyId, other.keyId);
      if (own.includes(id)) expect([own, (await send(method, own, body)).status]).toEqual([own, 404]);
    }
    api.token = owner;
    const second = await createTestKey(api.db, { accountId: api.payer.accountId });
    for (const wrong of [second.keyId, NOBODY, 'x', '%00']) {
      for (const [method, path, body] of requests.filter(([, path]) => path.includes(id))) {
        const under = path.replace(api.payer.keyId, wrong);
        expect([under, (await send(method, under, body)).status]).toEqual([under, 404]);
      }
    }
    expect(await eventsOf(api.db.pool, api.payer)).toEqual(before);
    expect((await send<AlertOutput[]>('GET', api.alerts)).body).toEqual([
      expect.objectContaining({ id, active: true }),
    ]);
  });
});
