import { pino } from 'pino';
import { openOrm } from '../../../src/db/orm.js';
import { deliverAlert } from '../../../src/services/alerts/delivery.js';
import type { Send } from '../../../src/services/alerts/delivery.rules.js';
import { beginAttempt, finishAlert } from '../../../src/services/alerts/delivery.store.js';
import type { DeliveryWorker } from '../../../src/services/alerts/delivery-worker.js';
import { takeDueAlerts } from '../../../src/services/alerts/take-due.store.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { ownTime } from '../../support/own-time.js';
import { createTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';
import { ended, fire, readEvent, type Subscribed, subscribe } from './fixtures.js';
import { type Receiver, startReceiver } from './receiver.js';
import { names, ROOMY, room, startWorker, takenAlert, webhookPlaces, webhookSender } from './support.js';

const LEASE_MS = 1_000;

/** What hangs, hangs to the end of its test. */
const HANGS_MS = 120_000;

/** Longer than any test takes. */
const LONG_LEASE_MS = 60_000;

/** Longer than the pause before an outcome is recorded once more. */
const AWAY_MS = 400;

describe('the delivery', () => {
  let db: TestDatabase;
  let receiver: Receiver;
  let to: Subscribed;
  const workers: DeliveryWorker[] = [];
  beforeAll(async () => {
    receiver = await startReceiver();
    db = await createTestDatabase();
  });
  afterAll(async () => {
    await receiver.close();
    await db.close();
  });
  beforeEach(async () => {
    to = await subscribe(db.pool, `${receiver.url}/ok`);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(10_000)));
    await db.pool.query('truncate alert_events');
  });

  const start = (options: Parameters<typeof startWorker>[1] = {}): DeliveryWorker => {
    const worker = startWorker(db, options);
    workers.push(worker);
    return worker;
  };
  const em = () => db.orm.em.fork();
  const take = async (leaseMs: number) => (await takeDueAlerts(em(), room(ROOMY), leaseMs)).alerts;
  const takeWhenDue = (leaseMs: number) => until(async () => (await take(leaseMs))[0]);
  const at = (path: string): Subscribed => ({ ...to, destination: receiver.url + path });

  test('by three workers sends each of 150 alerts once', async () => {
    for (let worker = 0; worker < 3; worker++) start({ pollMs: 5, places: webhookPlaces({ total: 8 }) });
    const ids = await Promise.all(
      Array.from({ length: 150 }, (_, index) => fire(db.pool, at(`/ok/once/${index}`))),
    );
    for (const id of ids) {
      expect(await ended(db.pool, id)).toMatchObject({
        delivery_status: 'sent',
        attempts: 1,
        lease_token: '1',
      });
    }
    const once = receiver.requests.filter(({ path }) => path.startsWith('/ok/once/'));
    expect(once.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(ids.toSorted());
  });

  test('begins when it is woken, and without that at its next look', async () => {
    const sleepy = start({ pollMs: 600_000 });
    for (let time = 0; time < 2; time++) {
      const id = await fire(db.pool, to);
      sleepy.wake();
      await ended(db.pool, id, 2_000);
    }
    const id = await fire(db.pool, to);
    start({ pollMs: 50 });
    await ended(db.pool, id, 2_000);
  });

  test('of a dead holder continues when its lease ends, with the same id and the remaining attempts', async () => {
    const id = await fire(db.pool, at('/busy/died'));
    const [held] = await take(LONG_LEASE_MS);
    expect(await beginAttempt(em(), held!, 3)).toBe(1);
    // The rest of the lease: the attempt above had time to begin.
    const began = performance.now();
    await db.pool.query(
      `update alert_events set leased_until = l.ends, next_attempt_at = l.ends
       from (select now() + $1 * interval '1 millisecond' as ends) l`,
      [LEASE_MS],
    );
    start();
    expect(await ended(db.pool, id)).toMatchObject({
      delivery_status: 'failed',
      attempts: 3,
      lease_token: '2',
    });
    const requests = receiver.to('/busy/died');
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect(requests[0]!.at - began).toBeGreaterThan(LEASE_MS - 50);
    expect(requests[0]!.at - began).toBeLessThan(LEASE_MS + 5_000);
  });

  test('fails when three holders died over it, and reports what is known', async () => {
    const id = await fire(db.pool, at('/ok/spent'));
    for (let attempt = 1; attempt <= 3; attempt++) {
      const held = await takeWhenDue(LONG_LEASE_MS);
      expect(await beginAttempt(em(), held, 3)).toBe(attempt);
      if (attempt === 3) expect(await beginAttempt(em(), held, 3)).toBeNull();
      await db.pool.query('update alert_events set leased_until = now(), next_attempt_at = now()');
    }
    start();
    expect(await ended(db.pool, id)).toMatchObject({
      ...{ delivery_status: 'failed', attempts: 3, response_code: null },
      error_message: expect.stringMatching(/^Gave up after 3 attempts\. .* may have arrived\.$/),
    });
    expect(receiver.to('/ok/spent')).toEqual([]);
  });

  test('is refused to a holder whose lease is over: no attempt, and no record once another holder has taken it', async () => {
    const id = await fire(db.pool, at('/ok/stale'));
    const [stale] = await take(50);
    const fresh = await takeWhenDue(LONG_LEASE_MS);
    expect(fresh.token).not.toBe(stale!.token);
    const lateWords = { status: 'failed', responseCode: 400, error: 'late' } as const;
    expect(await beginAttempt(em(), stale!, 3)).toBeNull();
    expect(await finishAlert(em(), stale!, lateWords)).toBe(false);
    expect(await readEvent(db.pool, id)).toMatchObject({
      delivery_status: 'pending',
      attempts: 0,
      lease_token: '2',
    });
    expect(await finishAlert(em(), fresh, { status: 'sent', responseCode: 200, error: null })).toBe(true);
    expect(await finishAlert(em(), fresh, lateWords)).toBe(false);
    expect(await readEvent(db.pool, id)).toMatchObject({ delivery_status: 'sent', response_code: 200 });
  });

  test('begins no attempt after its own lease, even if nobody else took it', async () => {
    const id = await fire(db.pool, at('/ok/late'));
    const [held] = await take(1);
    await until(async () => {
      const { rows } = await db.pool.query('select from alert_events where leased_until <= now()');
      return rows.length === 1;
    });
    const log = pino({ level: 'silent' });
    const senders = { webhook: webhookSender(), email: null };
    const stopping = new AbortController().signal;
    await deliverAlert(held!, { em, names, senders, log, stopping, leasedUntil: 0 });
    expect(receiver.to('/ok/late')).toEqual([]);
    expect((await readEvent(db.pool, id)).attempts).toBe(0);
  });

  describe('at a stop', () => {
    test('finishes an attempt in progress', async () => {
      const worker = start();
      const id = await fire(db.pool, at('/slow/stop'));
      await until(() => receiver.to('/slow/stop').length > 0);
      await worker.stop(5_000);
      expect(await readEvent(db.pool, id)).toMatchObject({ delivery_status: 'sent', attempts: 1 });
    });

    test('releases what waits for its next attempt, and takes nothing more', async () => {
      const pausesMs = [20, 3_000];
      const worker = start({ pausesMs });
      const id = await fire(db.pool, at('/recovers/stop'));
      await until(async () => (await readEvent(db.pool, id)).attempts === 2);
      const second = await until(() => receiver.to('/recovers/stop')[1]);
      const time = ownTime();
      const began = time.now();
      await worker.stop(5_000);
      expect(time.now() - began).toBeLessThan(1_000);
      time.stop();
      expect(await readEvent(db.pool, id)).toMatchObject({
        ...{ delivery_status: 'pending', attempts: 2, leased_until: null },
      });
      const other = await fire(db.pool, at('/ok/stopped'));
      worker.wake();
      start({ pausesMs });
      expect(await ended(db.pool, id)).toMatchObject({
        delivery_status: 'sent',
        attempts: 3,
        lease_token: '2',
      });
      expect(receiver.to('/recovers/stop')[2]!.at - second.at).toBeGreaterThan(2_900);
      expect(await ended(db.pool, other)).toMatchObject({ lease_token: '1' });
    });
  });

  describe('under a receiver that hangs', () => {
    const patient = { senders: { webhook: webhookSender({ attemptMs: HANGS_MS }), email: null } };

    test('keeps a slot for others: few at once to one receiver', async () => {
      start({ places: webhookPlaces({ total: 10, perLane: 3 }) });
      for (let index = 0; index < 12; index++) await fire(db.pool, at(`/slow/lane/${index}`));
      const other = await startReceiver();
      const time = ownTime();
      const began = time.now();
      const id = await fire(db.pool, await subscribe(db.pool, `${other.url}/ok`));
      await ended(db.pool, id);
      expect(time.now() - began).toBeLessThan(900);
      time.stop();
      await until(() => receiver.requests.filter(({ path }) => path.startsWith('/slow/lane/')).length === 12);
      // 'slow' has met the tests above too: one each.
      expect(receiver.open('slow').most).toBe(3);
      await other.close();
    });

    test('looks past everything that waits for it', async () => {
      const silent = await startReceiver({ onRequest: () => false });
      const id = await fire(db.pool, { ...to, destination: `${silent.url}/hang` });
      const columns = `account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
        billing_month, spend, monthly_limit, fired_at, pending_since, next_attempt_at`;
      await db.pool.query(
        `insert into alert_events (id, threshold_pct, ${columns})
         select gen_random_uuid(), -n, ${columns} from alert_events, generate_series(1, 1100) n where id = $1`,
        [id],
      );
      start({ ...patient, places: webhookPlaces({ total: 10, perLane: 2 }) });
      await until(() => silent.requests.length === 2);
      await ended(db.pool, await fire(db.pool, to), 2_000);
      expect(silent.requests).toHaveLength(2);
      await silent.close();
    });

    test('keeps a slot for others: few at once of one account', async () => {
      start({ ...patient, places: webhookPlaces({ total: 10, perLane: 3, perAccount: 4 }) });
      const hanging = await Promise.all(
        ['127.0.1.1', '127.0.1.2', '127.0.1.3', '127.0.1.4'].map((host) =>
          startReceiver({ host, onRequest: () => false }),
        ),
      );
      for (const { url } of [...hanging, ...hanging, ...hanging]) {
        await fire(db.pool, { ...to, destination: `${url}/hang` });
      }
      await until(() => hanging.flatMap(({ requests }) => requests).length === 4);
      const other = await subscribe(db.pool, `${receiver.url}/ok/neighbour`);
      await ended(db.pool, await fire(db.pool, other), 2_000);
      expect(hanging.flatMap(({ requests }) => requests)).toHaveLength(4);
      await Promise.all(hanging.map((one) => one.close()));
    });
  });

  test("records what it sent once the database is back, and doesn't send it twice", async () => {
    const link = await createTcpProxy(Number(new URL(db.url).port));
    const orm = openOrm({ databaseUrl: link.urlOf(db.url), processName: 'test', poolSize: 2 });
    const cut = await startReceiver({
      onRequest() {
        link.cut();
        setTimeout(() => link.restore(), AWAY_MS);
        return undefined;
      },
    });
    const id = await fire(db.pool, { ...to, destination: `${cut.url}/ok` });
    const worker = startWorker({ orm });
    expect(await ended(db.pool, id)).toMatchObject({
      delivery_status: 'sent',
      attempts: 1,
      lease_token: '1',
    });
    expect(cut.requests).toHaveLength(1);
    await worker.stop(5_000);
    await orm.close(true);
    await link.close();
    await cut.close();
  });

  test("skips an alert that an older version couldn't have written, and delivers the rest", async () => {
    const odd = await fire(db.pool, { ...to, destination: 'not a URL' });
    const fine = await fire(db.pool, to);
    start();
    expect(await ended(db.pool, fine)).toMatchObject({ delivery_status: 'sent' });
    expect(await ended(db.pool, odd)).toMatchObject({ delivery_status: 'failed', attempts: 1 });
  });

  test("signs each attempt with the subscription's current secrets", async () => {
    const seen: (string | null)[] = [];
    const changesSecret: Send = async ({ signingSecretSealed }) => {
      seen.push(signingSecretSealed);
      if (seen.length > 1) return { result: 'sent', responseCode: 204 };
      const change = `update alert_subscriptions set signing_secret_sealed = 'changed' where id = $1`;
      await db.pool.query(change, [to.subscriptionId]);
      return { result: 'again', responseCode: 500, error: 'The receiver responded with 500.' };
    };
    start({ senders: { webhook: changesSecret, email: null } });
    await ended(db.pool, await fire(db.pool, to));
    expect(seen).toEqual([expect.stringMatching(/./), 'changed']);
    expect(seen[0]).not.toBe('changed');
  });

  test("passes only the event's data to the sender", async () => {
    // What a mail or webhook tells was fixed when it fired: a key that is renamed or deleted later changes nothing.
    const id = await fire(db.pool, at('/ok/fixed'));
    await db.pool.query(`update api_keys set name = 'renamed', monthly_limit_usd = 99 where id = $1`, [
      to.keyId,
    ]);
    const [held] = await take(60_000);
    const {
      id: _id,
      token: _token,
      firedAtMs: _fired,
      pendingSinceMs: _since,
      signingSecretSealed,
      lane,
      ...sent
    } = held!;
    const expected = takenAlert(at('/ok/fixed'));
    expect({ ...sent, billingMonth: '' }).toEqual({
      ...{ ...expected, id: undefined, token: undefined, billingMonth: '' },
      ...{ firedAtMs: undefined, pendingSinceMs: undefined, signingSecretSealed: undefined, lane: undefined },
    });
    expect([held!.id, lane, typeof signingSecretSealed]).toEqual([
      id,
      expect.stringMatching(/^-?\d+$/),
      'string',
    ]);
  });
});
