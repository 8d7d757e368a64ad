import { newId } from '../../../src/lib/ids.js';
import { createAccountShares, SLOW_MS } from '../../../src/services/alerts/account-shares.js';
import { type DeliveryWorker, PLACES } from '../../../src/services/alerts/delivery-worker.js';
import { createMailSender } from '../../../src/services/alerts/mail-sender.js';
import { takeDueAlerts } from '../../../src/services/alerts/take-due.store.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { ownTime } from '../../support/own-time.js';
import { until } from '../../support/until.js';
import { ended, fire, readEvent, type Subscribed, subscribe } from './fixtures.js';
import { type HeldMailbox, startHeldMailbox } from './mailbox.js';
import { type Receiver, startReceiver } from './receiver.js';
import { names, ROOMY, room, startWorker, webhookPlaces, webhookSender } from './support.js';

const ATTACKERS = 4;
const ALERTS = 200;
/** With the attackers as many as one network may sign up in a day, once all other places are taken. */
const FRESH = 16;
const BOUND_MS = 5_000;
const MAIL_BOUND_MS = 10_000;
/** Longer than a test: what hangs, hangs to its end. */
const HANGS_MS = 120_000;
const LEASE_MS = 300_000;

describe('slots for deliveries', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  afterEach(() => db.pool.query('truncate alert_events, alert_mails'));

  /** So many more alerts like this one, due before whatever fires now. */
  async function backlog(to: Subscribed, count: number): Promise<void> {
    const id = await fire(db.pool, to);
    const columns = `account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
      threshold_pct, spend, monthly_limit, fired_at, pending_since`;
    await db.pool.query(
      `insert into alert_events (id, billing_month, next_attempt_at, ${columns})
       select gen_random_uuid(), gen_random_uuid()::text, now() - interval '1 minute', ${columns}
       from alert_events, generate_series(2, $2::int) n where id = $1`,
      [id, count],
    );
  }
  const take = (given: Parameters<typeof room>[1] = {}, places = ROOMY) =>
    takeDueAlerts(db.orm.em.fork(), room(places, given), LEASE_MS);

  describe('under four accounts whose receivers hang, with 200 alerts each', () => {
    let worker: DeliveryWorker;
    let hanging: Receiver[];
    let receiver: Receiver;
    beforeAll(async () => {
      receiver = await startReceiver();
      hanging = await Promise.all(
        Array.from({ length: ATTACKERS * 4 }, () => startReceiver({ onRequest: () => false })),
      );
      for (let n = 0; n < ATTACKERS; n++) {
        const attacker = await subscribe(db.pool, `${hanging[4 * n]!.url}/hang`);
        for (const { url } of hanging.slice(4 * n, 4 * n + 4)) {
          await backlog({ ...attacker, destination: `${url}/hang` }, ALERTS / 4);
        }
      }
      worker = startWorker(db, {
        senders: { webhook: webhookSender({ attemptMs: HANGS_MS }), email: null },
        places: PLACES,
        leaseMs: LEASE_MS,
      });
    });
    afterAll(async () => {
      await Promise.all([...hanging, receiver].map((one) => one.close()));
      await worker.stop(10_000);
    });

    test("another account's first attempt is made within five seconds, and some slots stay free for it", async () => {
      const { total, reserved } = PLACES.webhook;
      const waiting = () => hanging.flatMap(({ requests }) => requests).length;
      await until(() => waiting() === total - reserved, { what: 'the places to be taken' });
      for (let n = 0; n < FRESH; n++) {
        await fire(db.pool, await subscribe(db.pool, `${hanging[0]!.url}/hang/${n}`));
      }
      await until(() => waiting() === total - reserved + FRESH, { what: 'accounts new to us to hang' });
      const time = ownTime();
      const began = time.now();
      const ids = [];
      for (let n = 0; n < 5; n++) {
        ids.push(await fire(db.pool, await subscribe(db.pool, `${receiver.url}/ok/${n}`)));
      }
      for (const id of ids) expect(await ended(db.pool, id)).toMatchObject({ delivery_status: 'sent' });
      expect(time.now() - began).toBeLessThan(BOUND_MS);
      time.stop();
      expect(waiting()).toBe(total - reserved + FRESH);
    });
  });

  test('are given to others after a slow attempt, not after the third', async () => {
    const receiver = await startReceiver();
    const webhook = webhookSender({ attemptMs: SLOW_MS + 100 });
    const worker = startWorker(db, {
      senders: { webhook, email: null },
      places: webhookPlaces({ total: 1 }),
    });
    try {
      const hangs = await fire(db.pool, await subscribe(db.pool, `${receiver.url}/hang`));
      await until(() => receiver.requests.length === 1);
      const other = await fire(db.pool, await subscribe(db.pool, `${receiver.url}/ok`));
      expect(await ended(db.pool, other)).toMatchObject({ delivery_status: 'sent' });
      expect(await readEvent(db.pool, hangs)).toMatchObject({ delivery_status: 'pending' });
    } finally {
      await worker.stop(10_000);
      await receiver.close();
    }
  });

  describe('under 500 emails of one account and a slow mail server', () => {
    let worker: DeliveryWorker;
    let mailbox: HeldMailbox;
    beforeAll(async () => {
      mailbox = await startHeldMailbox('attacker@example.com');
      await backlog(await subscribe(db.pool, 'attacker@example.com'), 500);
      const mail = { smtpUrl: mailbox.url, from: 'alerts@example.com' };
      const email = createMailSender({ mail, baseUrl: 'https://example.com', names, attemptMs: HANGS_MS });
      worker = startWorker(db, { senders: { webhook: null, email }, places: PLACES, leaseMs: LEASE_MS });
    });
    afterAll(async () => {
      mailbox.release();
      await worker.stop(10_000);
      await mailbox.close();
    });

    test("another account's email arrives within ten seconds, and the account stays within its share", async () => {
      const { perAccount } = PLACES.email;
      await until(() => mailbox.held() === perAccount, { what: 'the share to be taken' });
      const time = ownTime();
      const began = time.now();
      const id = await fire(db.pool, await subscribe(db.pool, 'victim@example.com'));
      expect(await ended(db.pool, id)).toMatchObject({ delivery_status: 'sent' });
      expect(time.now() - began).toBeLessThan(MAIL_BOUND_MS);
      time.stop();
      expect(mailbox.held()).toBe(perAccount);
    });
  });

  test('go to accounts in turn, and the next round begins after the last one served', async () => {
    const accounts: string[] = [];
    for (let n = 0; n < 3; n++) {
      const to = await subscribe(db.pool, 'https://hooks.example.com/x');
      accounts.push(to.accountId);
      await backlog(to, 4);
    }
    accounts.sort();
    const first = await take({}, { ...ROOMY, total: 5 });
    expect(first.alerts.map(({ accountId }) => accounts.indexOf(accountId))).toEqual([0, 1, 2, 0, 1]);
    const second = await take({ after: first.after }, { ...ROOMY, total: 4 });
    expect(second.alerts.map(({ accountId }) => accounts.indexOf(accountId))).toEqual([2, 0, 1, 2]);
  });

  test('that are reserved go only to accounts that hold none and respond in time', async () => {
    const [busy, slow, idle] = await Promise.all(
      ['busy', 'slow', 'idle'].map((name) => subscribe(db.pool, `https://${name}.example.com/x`)),
    );
    for (const to of [busy!, slow!, idle!]) await backlog(to, 3);
    const places = { ...ROOMY, total: 4, reserved: 3 };
    const running = [{ accountId: busy!.accountId, lane: '1' }];
    const shares = new Map([[slow!.accountId, 2]]);
    const { alerts } = await take({ running, shares }, places);
    expect(alerts.map(({ accountId }) => accountId)).toEqual([idle!.accountId]);
  });

  test('of an account are fewer while its deliveries are slow', async () => {
    const to = await subscribe(db.pool, 'https://hooks.example.com/x');
    await backlog(to, 20);
    const shares = new Map([[to.accountId, 2]]);
    expect((await take({ shares }, { ...ROOMY, perAccount: 16 })).alerts).toHaveLength(2);
    expect((await take({}, { ...ROOMY, perAccount: 16 })).alerts).toHaveLength(16);
  });

  test('by two takers at once never go to the same alert', async () => {
    for (let n = 0; n < 5; n++) await backlog(await subscribe(db.pool, 'https://hooks.example.com/x'), 10);
    const places = { ...ROOMY, total: 10 };
    const ids: string[] = [];
    await until(async () => {
      const turns = await Promise.all(Array.from({ length: 4 }, () => take({}, places)));
      ids.push(...turns.flatMap(({ alerts }) => alerts.map(({ id }) => id)));
      return ids.length >= 50;
    });
    expect(new Set(ids).size).toBe(50);
    expect(ids).toHaveLength(50);
  });

  test('are found without reading the backlog of another account', async () => {
    for (let n = 0; n < 3; n++) {
      await backlog(await subscribe(db.pool, 'https://hooks.example.com/x'), 5_000);
    }
    await db.pool.query('analyze alert_events');
    const victim = await subscribe(db.pool, 'https://hooks.example.com/x');
    const id = await fire(db.pool, victim);
    const read = await db.orm.em.fork().transactional(async (em) => {
      const rows = async (): Promise<number> => {
        const [row] = await em.execute<{ n: string }[]>(
          `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as n from pg_stat_xact_user_tables
           where relname = 'alert_events'`,
        );
        return Number(row!.n);
      };
      const before = await rows();
      const turn = await takeDueAlerts(em, room({ ...ROOMY, perLane: 4 }), LEASE_MS);
      expect(turn.alerts.map((alert) => alert.id)).toContain(id);
      return (await rows()) - before;
    });
    expect(read).toBeLessThan(500);
  });
});

describe('the share of an account', () => {
  test('is halved by each slow attempt, doubled by each quick one, and full again after ten minutes', () => {
    let now = 0;
    const shares = createAccountShares(16, () => now);
    const account = newId();
    const seen = [];
    for (const tookMs of [5_000, 5_000, 5_000, 5_000, 5_000, 10, 10]) {
      shares.attempted(account, tookMs);
      seen.push(shares.reduced().get(account));
    }
    expect(seen).toEqual([8, 4, 2, 1, 1, 2, 4]);
    now += 10 * 60_000 + 1;
    expect(shares.reduced()).toEqual(new Map());
    shares.attempted(account, 5_000);
    shares.attempted(account, 10);
    expect(shares.reduced()).toEqual(new Map());
  });
});
