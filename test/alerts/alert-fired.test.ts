import { pgPool } from '../../src/db/connection.js';
import { ALERT_FIRED_CHANNEL, ALERT_PENDING_CHANNEL } from '../../src/db/invalidation.js';
import { listen } from '../../src/db/listen.js';
import { createLogger } from '../../src/lib/logger.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createAlertFeed } from '../../src/services/live/alert-feed.js';
import { createSignalBoard } from '../../src/services/live/signals.js';
import { contextOf } from '../billing/fixtures.js';
import { follow, letIn, socketClient } from '../graphql/support.js';
import { createPayer, type Payer } from '../metering/support.js';
import { postChat } from '../support/edge.js';
import { useStack } from '../support/stack-suite.js';
import { until } from '../support/until.js';
import { watchPool } from '../support/watched-pool.js';
import { callOf, eventsOf, limitKey, subscribe } from './support.js';

const FIRED = 'subscription { alertFired { id thresholdPct purpose deliveryStatus apiKey { id } } }';

interface Fired {
  alertFired: { id: string; thresholdPct: number; deliveryStatus: string; apiKey: { id: string } };
}

describe('alertFired', () => {
  // Without the jobs of the product: alerts stay as they fired.
  const suite = useStack();

  /** So many alerts of a month, as if they had been delivered in vain. */
  const insert = (payer: Payer, month: string, count: number) =>
    suite.db.pool.query(
      `insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, threshold_pct,
         billing_month, spend, monthly_limit, fired_at, pending_since, delivery_status)
       select gen_random_uuid(), $1, $2, $2, 'threshold', 'webhook', '', n, $3, 1, 1, now(), now(), 'failed'
       from generate_series(1, $4::int) n`,
      [payer.accountId, payer.keyId, month, count],
    );

  test('a call through the edge notifies its owner and the delivery workers, and nobody else', async () => {
    const woken: string[] = [];
    let listening = false;
    const listener = listen({
      databaseUrl: suite.db.url,
      channel: ALERT_PENDING_CHANNEL,
      log: createLogger('test', 'silent'),
      onNotify: (payload) => void woken.push(payload),
      onListening: () => {
        listening = true;
      },
    });
    const [ada, bob] = [await suite.signUp(), await suite.signUp()];
    const payer = { accountId: ada.accountId, keyId: ada.keyId };
    await limitKey(suite.db.pool, payer, 0.000001);
    await subscribe(suite.db.pool, payer, [50, 100]);
    const clients = [ada, bob].map(({ token }) => socketClient(suite.url, { token }));
    const connected = clients.map(letIn);
    const [ofAda, ofBob] = clients.map((client) => follow<Fired>(client, FIRED));
    await Promise.all([...connected, until(() => listening, { what: 'the listener to listen' })]);
    // Until an alert arrives: a new subscription sends nothing by itself.
    const begun = () => ofAda!.results.length > 0;
    let year = 2100;
    await until(async () => {
      await insert(payer, `${year++}-01`, 1);
      await suite.db.pool.query('select pg_notify($1, $2)', [ALERT_FIRED_CHANNEL, payer.accountId]);
      await until(begun, { timeoutMs: 300 }).catch(() => undefined);
      return begun();
    });
    const fired = () =>
      ofAda!.results.map(({ data }) => data!.alertFired).filter(({ thresholdPct }) => thresholdPct >= 50);
    for (let n = 0; n < 3; n++) expect((await postChat(suite.url, ada.key)).status).toBe(200);
    await until(() => fired().length >= 2, { what: 'two alerts' });
    const reported = fired();
    expect(reported.map(({ thresholdPct }) => thresholdPct).sort()).toEqual([100, 50]);
    const events = (await eventsOf(suite.db.pool, payer)).filter((event) => event.threshold_pct! >= 50);
    expect(reported.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
    expect(reported[0]).toMatchObject({ deliveryStatus: 'PENDING', apiKey: { id: payer.keyId } });
    await until(() => woken.length > 0, { what: 'the wake-up' });
    expect(new Set(woken)).toEqual(new Set(['']));
    expect(ofBob!.results).toEqual([]);
    for (const client of clients) await client.dispose();
    await listener.stop();
  });

  test("alerts missed while disconnected come with the next signal; a delivery doesn't repeat them", async () => {
    const payer = await createPayer(suite.db.pool);
    await limitKey(suite.db.pool, payer, 1);
    await subscribe(suite.db.pool, payer, [10, 20, 30]);
    await flushBatch(suite.db.pool, [callOf(payer, 10)]);
    const board = createSignalBoard();
    const iterator = await createAlertFeed({ signals: board }).alertFired(
      contextOf(suite.db, payer.accountId),
    );
    const reported: (number | null)[] = [];
    const done = (async () => {
      for await (const event of iterator) reported.push(event.threshold_pct);
    })();
    await flushBatch(suite.db.pool, [callOf(payer, 10)]);
    await suite.db.pool.query(
      `update alert_events set delivery_status = 'sent', next_attempt_at = null where account_id = $1`,
      [payer.accountId],
    );
    board.alertsFired(null);
    await until(() => reported.length >= 1);
    board.alertsFired([payer.accountId]);
    await flushBatch(suite.db.pool, [callOf(payer, 10)]);
    board.alertsFired([payer.accountId]);
    await until(() => reported.length >= 2);
    expect(reported).toEqual([20, 30]);
    await iterator.return!();
    await done;
  });

  test('alerts that fired together come in reads of at most 500, each once, whatever fires in the meantime', async () => {
    const payer = await createPayer(suite.db.pool);
    const pool = await pgPool(suite.db.orm);
    const { connect } = pool;
    const reads: number[] = [];
    watchPool(pool, async (text, ask) => {
      const result = await ask();
      if (text.includes('pg_visible_in_snapshot') && text.includes('alert_events')) {
        reads.push(result.rows.length);
      }
      return result;
    });
    try {
      const board = createSignalBoard();
      const iterator = await createAlertFeed({ signals: board }).alertFired(
        contextOf(suite.db, payer.accountId),
      );
      const reported: string[] = [];
      const done = (async () => {
        for await (const { id } of iterator) {
          reported.push(id);
          // In the middle of the second page.
          if (reported.length === 700) await insert(payer, '2100-02', 20);
        }
      })();
      await insert(payer, '2100-01', 1_200);
      board.alertsFired([payer.accountId]);
      await until(() => reported.length >= 1_200);
      board.alertsFired([payer.accountId]);
      await until(() => reported.length >= 1_220);
      const ids = (await eventsOf(suite.db.pool, payer)).map(({ id }) => id);
      expect(reported.toSorted()).toEqual(ids.toSorted());
      expect(Math.max(...reads)).toBe(500);
      await iterator.return!();
      await done;
    } finally {
      pool.connect = connect;
    }
  });

  test('nobody can follow without a session', async () => {
    const feed = createAlertFeed({ signals: createSignalBoard() });
    await expect(feed.alertFired(contextOf(suite.db, null))).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
