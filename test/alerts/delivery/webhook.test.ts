import { createHmac } from 'node:crypto';
import { createEgress } from '../../../src/lib/egress/egress.js';
import { publicResolver } from '../../../src/lib/egress/resolve.js';
import type { DeliveryWorker } from '../../../src/services/alerts/delivery-worker.js';
import { startNameServer } from '../../lib/egress/name-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { ownTime } from '../../support/own-time.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';
import { type EventRow, ended, envelopes, fire, subscribe } from './fixtures.js';
import { LARGE_BYTES, type Receiver, startReceiver } from './receiver.js';
import { startWorker, takenAlert, webhookPlaces, webhookSender } from './support.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Short enough to wait for three times where no answer comes, and longer than a busy machine takes to ask. */
const HASTY_MS = 1_500;
const NO_ANSWER = /^\/(?:hang|trickle-head)/;
/** These end by a patience alone: they are begun beside the other tests. */
const PATIENT = ['/trickle-body', '/hang', '/trickle-head'];

describe('a webhook', () => {
  let db: TestDatabase;
  let receiver: Receiver;
  /** A database whose worker waits shortly for an answer; the other one has the product's patience. */
  let hasty: TestDatabase;
  let workers: DeliveryWorker[];
  let patience: Promise<{ outcome: unknown; ms: number; ownMs: number }[]>;
  let recovery: ReturnType<typeof recover>;
  let begun: Map<string, Promise<EventRow>>;
  beforeAll(async () => {
    [db, hasty] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    receiver = await startReceiver();
    // Measured beside the other tests.
    patience = Promise.all(
      ['/hang/5s', '/trickle-head/5s'].map(async (path) => {
        const to = await subscribe(db.pool, receiver.url + path);
        const time = ownTime();
        const [began, ownBegan] = [performance.now(), time.now()];
        const outcome = await webhookSender()(takenAlert(to));
        const [ms, ownMs] = [performance.now() - began, time.now() - ownBegan];
        time.stop();
        return { outcome, ms, ownMs };
      }),
    );
    recovery = recover();
    const senders = { webhook: webhookSender({ attemptMs: HASTY_MS }), email: null };
    workers = [startWorker(db), startWorker(hasty, { senders })];
    begun = new Map(PATIENT.map((path) => [receiver.url + path, deliver(receiver.url + path)]));
  });
  afterAll(async () => {
    await Promise.all(begun.values());
    await Promise.all(workers.map((worker) => worker.stop(5_000)));
    await patience;
    await recovery;
    await receiver.close();
    await Promise.all([db.close(), hasty.close()]);
  });

  /** By a worker of its own, since the others pause shortly. Measured beside the other tests. */
  const recover = async () => {
    const own = await createTestDatabase();
    const time = ownTime();
    /** When each request came, by the time that this process had. */
    const ownAt: number[] = [];
    const at = await startReceiver({
      onRequest() {
        ownAt.push(time.now());
        return undefined;
      },
    });
    const real = startWorker(own, { pausesMs: undefined });
    const id = await fire(own.pool, await subscribe(own.pool, `${at.url}/recovers`));
    const row = await ended(own.pool, id);
    await real.stop(5_000);
    time.stop();
    await at.close();
    await own.close();
    return { id, row, requests: at.requests, ownAt };
  };

  const deliver = async (url: string): Promise<EventRow> => {
    const { pool } = NO_ANSWER.test(new URL(url).pathname) ? hasty : db;
    return ended(pool, await fire(pool, await subscribe(pool, url)));
  };
  const sendTo = (url: string): Promise<EventRow> => begun.get(url) ?? deliver(url);

  test('has exactly the promised content, signed over the very bytes in both ways', async () => {
    const to = await subscribe(db.pool, `${receiver.url}/ok/form?x=1#part`);
    const before = Math.floor(Date.now() / 1000);
    const id = await fire(db.pool, to, { billing_month: '2026-11' });
    expect(await ended(db.pool, id)).toMatchObject({
      delivery_status: 'sent',
      attempts: 1,
      response_code: 204,
      error_message: null,
      leased_until: null,
      finished_at: expect.any(Date),
    });
    const [request, ...more] = receiver.to('/ok/form?x=1');
    expect(more).toEqual([]);
    const body = request!.body.toString();
    const { rows } = await db.pool.query<{ fired_at: Date }>(
      'select fired_at from alert_events where id = $1',
      [id],
    );
    const firedAt = rows[0]!.fired_at.toISOString().replace('Z', '000Z');
    expect(body).toBe(
      `{"type":"spend.threshold","key_id":"${to.keyId}","key_prefix":"sk-pr-abcd…wxyz","threshold_pct":80,` +
        `"billing_month":"2026-11","mtd_spend_usd":"8.123456789","monthly_limit_usd":"10.000000","fired_at":"${firedAt}"}`,
    );

    const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
    const timestamp = request!.headers['webhook-timestamp']!;
    const key = Buffer.from(to.secret.slice('whsec_'.length), 'base64');
    expect(request!.headers).toEqual({
      host: new URL(receiver.url).host,
      connection: 'close',
      'content-length': String(request!.body.length),
      'content-type': 'application/json',
      'user-agent': 'Gateway-Webhook/1.0',
      'x-gateway-event': 'spend.threshold',
      'x-gateway-signature': `sha256=${hmac(TEST_SECRETS.WEBHOOK_SECRET, body).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`,
    });
    expect(request!.rawHeaders).toContain('X-Gateway-Signature');
    expect(id).toMatch(UUID);
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
    expect(Number(timestamp)).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test('ends with what the guard of the key did', async () => {
    const to = await subscribe(db.pool, `${receiver.url}/ok/guard`);
    const guard = { guard_action: 'fallback_model', guard_model_public_name: 'gateway/fast' };
    await ended(db.pool, await fire(db.pool, to, { purpose: 'guard', ...guard }));
    const body = receiver.to('/ok/guard')[0]!.body.toString();
    expect(body).toMatch(/,"guard":\{"action":"fallback_model","model_public_name":"gateway\/fast"\}\}$/);
  });

  test('is signed with each of several secrets during a rotation', async () => {
    const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
    const to = await subscribe(db.pool, `${receiver.url}/ok/two`, { secret: secrets.join(' ') });
    const id = await fire(db.pool, to);
    await ended(db.pool, id);
    const { headers, body } = receiver.to('/ok/two')[0]!;
    const expected = [1, 2].map(
      (byte) =>
        `v1,${createHmac('sha256', Buffer.alloc(24, byte)).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`,
    );
    expect(headers['webhook-signature']!.split(' ')).toEqual(expected);
  });

  test('for a test looks like a real one and is marked as a test', async () => {
    const to = await subscribe(db.pool, `${receiver.url}/ok/test`);
    const id = await fire(db.pool, to, {
      purpose: 'test',
      threshold_pct: null,
      billing_month: null,
      spend: null,
      monthly_limit: null,
    });
    await ended(db.pool, id);
    const body = JSON.parse(receiver.to('/ok/test')[0]!.body.toString()) as Record<string, unknown>;
    expect(body).toEqual({
      type: 'spend.threshold',
      key_id: to.keyId,
      key_prefix: 'sk-pr-abcd…wxyz',
      threshold_pct: 100,
      billing_month: new Date().toISOString().slice(0, 7),
      mtd_spend_usd: '0.000000',
      monthly_limit_usd: '0.000000',
      fired_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      test: true,
    });
  });

  test.each([
    ['/made', 'sent', 201, null],
    ['/trickle-body', 'sent', 200, null],
    ['/cut', 'sent', 200, null],
    ['/large', 'sent', 200, null],
    ['/bad', 'failed', 400, 'The receiver responded with 400.'],
    ['/moved', 'failed', 302, 'The receiver responded with 302: redirects are not followed.'],
    ['/kept', 'failed', 308, 'The receiver responded with 308: redirects are not followed.'],
  ])('answered by %s ends after one attempt as %s', async (path, delivery_status, response_code, error) => {
    const followed = receiver.to('/ok').length;
    expect(await sendTo(receiver.url + path)).toMatchObject({
      ...{ delivery_status, response_code, error_message: error, attempts: 1 },
    });
    expect(receiver.to(path)).toHaveLength(1);
    expect(receiver.to('/ok')).toHaveLength(followed);
  });

  test('reads no more of a large answer than it needs', async () => {
    await until(() => receiver.bytesTo('/large') > 0, { what: 'the connection to be cut' });
    // What the sockets of both sides hold comes on top of 64 KiB.
    expect(receiver.bytesTo('/large')).toBeLessThan(LARGE_BYTES / 10);
  });

  test('is sent again after 500, with the same id and bytes, after 0.5 and 1.5 seconds', async () => {
    const { id, row, requests, ownAt } = await recovery;
    expect(row).toMatchObject({
      delivery_status: 'sent',
      attempts: 3,
      response_code: 200,
      error_message: null,
    });
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
    expect(new Set(requests.map(({ body }) => body.toString('hex'))).size).toBe(1);
    const [first, second, third] = requests.map(({ at }) => at) as [number, number, number];
    expect(second - first).toBeGreaterThanOrEqual(495);
    expect(ownAt[1]! - ownAt[0]!).toBeLessThan(1_000);
    expect(third - second).toBeGreaterThanOrEqual(1_495);
    const times = requests.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(times[2]).toBeGreaterThan(times[0]!);
  });

  test('fails after three attempts when none succeeds', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/nobody`;
    const endings: Record<string, [number | null, string]> = {
      [`${receiver.url}/busy`]: [503, 'The receiver responded with 503.'],
      [`${receiver.url}/reset`]: [null, 'The connection failed (ECONNRESET).'],
      [`${receiver.url}/garbage`]: [null, 'The connection failed.'],
      [`${receiver.url}/large-head`]: [null, 'The connection failed (UND_ERR_HEADERS_OVERFLOW).'],
      [`${receiver.url}/hang`]: [null, `No response within ${HASTY_MS / 1000} seconds.`],
      [`${receiver.url}/trickle-head`]: [null, `No response within ${HASTY_MS / 1000} seconds.`],
      [nobody]: [null, 'The connection failed (ECONNREFUSED).'],
    };
    const rows = await Promise.all(
      Object.keys(endings).map(async (url) => {
        const row = await sendTo(url);
        return [url, row.delivery_status, row.attempts, row.response_code, row.error_message];
      }),
    );
    expect(rows).toEqual(
      Object.entries(endings).map(([url, [code, error]]) => [
        ...[url, 'failed', 3, code, `${error} Gave up after 3 attempts.`],
      ]),
    );
    for (const url of Object.keys(endings).slice(0, -1)) {
      expect(receiver.to(new URL(url).pathname)).toHaveLength(3);
    }
  });

  describe('answered 410', () => {
    const read = async (id: string) => {
      const { rows } = await db.pool.query(
        'select active, disabled_reason from alert_subscriptions where id = $1',
        [id],
      );
      return rows[0];
    };

    test('fails at once and disables its subscription', async () => {
      const to = await subscribe(db.pool, `${receiver.url}/gone`);
      const id = await fire(db.pool, to);
      const reason = 'The receiver responded with 410: the subscription was turned off.';
      expect(await ended(db.pool, id)).toMatchObject({
        ...{ delivery_status: 'failed', response_code: 410, error_message: reason, attempts: 1 },
      });
      expect(await read(to.subscriptionId)).toEqual({ active: false, disabled_reason: reason });
    });

    test('ends other pending events of its subscription unsent, until its owner requests them', async () => {
      const own = await createTestDatabase();
      const to = await subscribe(own.pool, `${receiver.url}/gone/waiting`);
      const [first, second] = [await fire(own.pool, to), await fire(own.pool, to)];
      const single = startWorker(own, { places: webhookPlaces({ perLane: 1 }) });
      expect(await ended(own.pool, first)).toMatchObject({ response_code: 410 });
      expect(await ended(own.pool, second)).toMatchObject({
        ...{ delivery_status: 'failed', attempts: 0, response_code: null },
        error_message: 'Not sent: the subscription was turned off before delivery.',
      });
      expect(receiver.to('/gone/waiting')).toHaveLength(1);
      for (const columns of [{ purpose: 'test' }, { redeliveries: 1 }]) {
        const asked = await ended(own.pool, await fire(own.pool, to, columns));
        expect(asked).toMatchObject({ attempts: 1, response_code: 410 });
      }
      await single.stop(1_000);
      await own.close();
    });

    test("doesn't disable a subscription whose destination has changed since", async () => {
      const to = await subscribe(db.pool, `${receiver.url}/ok/new`);
      const id = await fire(db.pool, { ...to, destination: `${receiver.url}/gone` });
      expect(await ended(db.pool, id)).toMatchObject({ response_code: 410 });
      expect(await read(to.subscriptionId)).toEqual({ active: true, disabled_reason: null });
    });
  });

  test('reaches no private address unless that is allowed, even if it was saved', async () => {
    const own = await createTestDatabase();
    const strict = startWorker(own, {
      senders: { webhook: webhookSender({ egress: createEgress({ allowPrivate: false }) }), email: null },
    });
    const unreached = await startReceiver();
    const id = await fire(own.pool, await subscribe(own.pool, `${unreached.url}/ok`));
    expect(await ended(own.pool, id)).toMatchObject({
      delivery_status: 'failed',
      attempts: 1,
      response_code: null,
      error_message: "Not sent: the destination resolves to an address that isn't on the public internet.",
    });
    expect(unreached.connections()).toBe(0);
    await strict.stop(1_000);
    await unreached.close();
    await own.close();
  });

  test('to a name whose target has no address fails after three attempts', async () => {
    const own = await createTestDatabase();
    const nameServer = await startNameServer(() => ({ alias: 'nowhere.example' }));
    const egress = createEgress({ allowPrivate: false, resolve: publicResolver([nameServer.address]) });
    const strict = startWorker(own, { senders: { webhook: webhookSender({ egress }), email: null } });
    const id = await fire(own.pool, await subscribe(own.pool, 'https://alias.example/hook'));
    expect(await ended(own.pool, id)).toMatchObject({
      ...{ delivery_status: 'failed', attempts: 3, response_code: null },
      error_message: 'The connection failed. Gave up after 3 attempts.',
    });
    await strict.stop(1_000);
    await nameServer.close();
    await own.close();
  });

  test("isn't sent again when its account is disabled between two attempts", async () => {
    const disable = () =>
      db.pool.query(`update accounts set status = 'disabled' where id = $1`, [to.accountId]);
    const own = await startReceiver({
      onRequest(_received, response) {
        void disable().then(() => response.writeHead(503).end());
        return false;
      },
    });
    const to = await subscribe(db.pool, `${own.url}/busy`);
    expect(await ended(db.pool, await fire(db.pool, to))).toMatchObject({
      delivery_status: 'failed',
      attempts: 1,
      error_message: expect.stringMatching(/^Not sent: the account was disabled/),
    });
    expect(await ended(db.pool, await fire(db.pool, to))).toMatchObject({
      delivery_status: 'failed',
      attempts: 0,
    });
    expect(own.requests).toHaveLength(1);
    await own.close();
  });

  test("isn't sent when its subscription or account was deleted before", async () => {
    const gone = expect.stringMatching(/^Not sent: the account was disabled, or .* deleted/);
    const first = await subscribe(db.pool, `${receiver.url}/ok/deleted`);
    await db.pool.query('delete from alert_subscriptions where id = $1', [first.subscriptionId]);
    const second = await subscribe(db.pool, `${receiver.url}/ok/deleted`);
    await db.pool.query('update accounts set deleted_at = now() where id = $1', [second.accountId]);
    for (const to of [first, second]) {
      const id = await fire(db.pool, to);
      expect(await ended(db.pool, id)).toMatchObject({
        ...{ delivery_status: 'failed', attempts: 0, error_message: gone },
      });
    }
    expect(receiver.to('/ok/deleted')).toEqual([]);
  });

  test("isn't sent when its secret can't be decrypted", async () => {
    const to = await subscribe(db.pool, `${receiver.url}/ok/sealed`);
    const other = envelopes.alertSecret.seal(to.secret, 'alert_subscription:another:signing_secret');
    await db.pool.query('update alert_subscriptions set signing_secret_sealed = $2 where id = $1', [
      to.subscriptionId,
      other,
    ]);
    const id = await fire(db.pool, to);
    const { delivery_status, error_message } = await ended(db.pool, id);
    expect([delivery_status, error_message]).toEqual([
      'failed',
      "Not sent: the signing secret can't be decrypted with the current ENCRYPTION_KEY.",
    ]);
    expect(receiver.to('/ok/sealed')).toEqual([]);
  });

  test('waits for a response for five seconds in total', async () => {
    const waits = await patience;
    expect(waits).toHaveLength(2);
    for (const { outcome, ms, ownMs } of waits) {
      expect(outcome).toEqual({
        result: 'again',
        responseCode: null,
        error: 'No response within 5 seconds.',
      });
      expect(ms).toBeGreaterThan(4_900);
      expect(ownMs).toBeLessThan(5_900);
    }
  });
});
