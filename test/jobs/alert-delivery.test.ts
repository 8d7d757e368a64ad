import { ALERT_PENDING_CHANNEL } from '../../src/db/invalidation.js';
import { ended, fire, readEvent, subscribe } from '../alerts/delivery/fixtures.js';
import { type Receiver, startReceiver } from '../alerts/delivery/receiver.js';
import { temporaryFolder } from '../launcher/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort } from '../support/free-port.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { productProcess } from '../support/product-process.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

const NOTIFIED = 5;
/** Longer than a stop takes to begin. */
const ANSWER_MS = 300;

describe('the jobs process without scheduled jobs', () => {
  let db: TestDatabase;
  let receiver: Receiver;
  /** Answers the waiting request. */
  let answer: (() => void) | undefined;
  const folder = temporaryFolder();
  beforeAll(async () => {
    db = await createTestDatabase();
    receiver = await startReceiver({
      onRequest({ path }, response) {
        if (path !== '/held') return undefined;
        answer = () => void response.writeHead(204).end();
        return false;
      },
    });
  });
  afterAll(async () => {
    await receiver.close();
    await db.close();
    folder.remove();
  });

  test('delivers alerts within two seconds of the notification, counts them, and completes them when it is stopped', async () => {
    const metricsPort = await freePort();
    const jobs = productProcess('jobs', {
      ...INHERITED_ENV,
      NODE_ENV: 'development',
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      LOG_LEVEL: 'warn',
      METRICS_PORT: String(metricsPort),
      DISABLE_BACKGROUND_TASKS: '1',
      WEBHOOK_ALLOW_PRIVATE: '1',
      ...TEST_SECRETS,
    });
    const metric = async (line: RegExp): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((one) => line.test(one))
          ?.split(' ')
          .at(-1) ?? Number.NaN,
      );
    };
    const early = await fire(db.pool, await subscribe(db.pool, `${receiver.url}/ok/early`));
    await jobs.start();
    try {
      expect(await ended(db.pool, early)).toMatchObject({ delivery_status: 'sent' });

      const subscription = await subscribe(db.pool, `${receiver.url}/ok/notified`);
      const waits: number[] = [];
      for (let alert = 1; alert <= NOTIFIED; alert++) {
        const id = await fire(db.pool, subscription);
        const began = performance.now();
        await db.pool.query(`select pg_notify($1, '')`, [ALERT_PENDING_CHANNEL]);
        await until(() => receiver.to('/ok/notified').length === alert);
        waits.push(performance.now() - began);
        expect(await ended(db.pool, id)).toMatchObject({ delivery_status: 'sent', attempts: 1 });
      }
      // By polling alone, each would wait for most of a second, since the one before was just found. A frozen machine
      // delays one or two of them.
      const [, , middle] = waits.toSorted((one, other) => one - other);
      expect(middle).toBeLessThan(500);

      const mail = await fire(db.pool, await subscribe(db.pool, 'owner@example.com'));
      expect(await ended(db.pool, mail)).toMatchObject({ delivery_status: 'degraded', attempts: 0 });

      const counted = /^gateway_alert_first_attempt_seconds_count\{.*kind="webhook"/;
      expect(await metric(counted)).toBe(1 + NOTIFIED);
      expect(await metric(/^gateway_alert_attempts_total\{kind="webhook",outcome="sent"/)).toBe(1 + NOTIFIED);
      expect(await metric(/^gateway_alert_deliveries_total\{kind="webhook",status="sent"/)).toBe(
        1 + NOTIFIED,
      );
      expect(await metric(/^gateway_alert_deliveries_total\{kind="email",status="degraded"/)).toBe(1);
      expect(await metric(/^gateway_alerts_pending\{/)).toBe(0);

      const last = await fire(db.pool, await subscribe(db.pool, `${receiver.url}/held`));
      const answerIt = await until(() => answer);
      expect(await metric(/^gateway_alerts_pending\{/)).toBe(1);
      setTimeout(answerIt, ANSWER_MS);
      expect((await jobs.end('SIGTERM')).code).toBe(0);
      expect(await readEvent(db.pool, last)).toMatchObject({ delivery_status: 'sent', attempts: 1 });
      expect(jobs.output()).not.toMatch(/error|whsec_|owner@example/);
    } finally {
      await jobs.end('SIGKILL');
    }
  });
});
