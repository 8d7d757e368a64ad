import { createHmac } from 'node:crypto';
import { ALERT_PENDING_CHANNEL } from '../../src/db/invalidation.js';
import { listen } from '../../src/db/listen.js';
import { createLogger } from '../../src/lib/logger.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { AlertEventOutput, CreatedAlertOutput } from '../../src/services/alerts/alerts.outputs.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { type Received, type Receiver, startReceiver } from './delivery/receiver.js';
import { startWorker } from './delivery/support.js';
import { callOf, limitKey } from './support.js';

/** The signatures of a delivery by these secrets, as a receiver works them out. */
function signatures({ headers, body }: Received, ...secrets: string[]): string[] {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return secrets.map((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
}

describe('an alert from the call to the receiver', () => {
  // Its worker delivers whatever waits in the database.
  const suite = usePlatform({ own: true, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  test('a test, a firing and its redelivery arrive, signed with the secret that was shown', async () => {
    const ada = await signUp(suite.url);
    const payer = await createTestKey(suite.db, { accountId: ada.user.id });
    await limitKey(suite.db.pool, payer, 1);
    const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await call<T>(suite.url, method, path, { token: ada.token, body });
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    const alerts = `/api/keys/${payer.keyId}/alerts`;
    const { id, signing_secret } = await send<CreatedAlertOutput>('POST', alerts, {
      kind: 'webhook',
      destination: `${receiver.url}/ok`,
      thresholds_pct: [80],
    });
    // It hardly looks by itself.
    const worker = startWorker(suite.db, { pollMs: 60_000 });
    let heard = false;
    const listener = listen({
      databaseUrl: suite.db.url,
      channel: ALERT_PENDING_CHANNEL,
      log: createLogger('test', 'silent'),
      onNotify: () => worker.wake(),
      onListening: () => {
        heard = true;
      },
    });
    await until(() => heard);

    const tested = await send<AlertEventOutput>('POST', `${alerts}/${id}/test`);
    const test = await until(() => receiver.requests[0], { what: 'the test' });
    expect(test.headers['webhook-id']).toBe(tested.id);
    expect(JSON.parse(String(test.body))).toMatchObject({
      type: 'spend.threshold',
      threshold_pct: 80,
      test: true,
    });
    expect(test.headers['webhook-signature']!.split(' ')).toEqual(signatures(test, signing_secret!));

    await flushBatch(suite.db.pool, [callOf(payer, 85)]);
    worker.wake();
    const fired = await until(() => receiver.requests[1], { what: 'the alert' });
    expect(JSON.parse(String(fired.body))).toMatchObject({
      key_id: payer.keyId,
      key_prefix: expect.stringMatching(/^sk-pr-.+….{4}$/),
      threshold_pct: 80,
      mtd_spend_usd: '0.850000',
      monthly_limit_usd: '1.000000',
    });
    const sent = () => send<AlertEventOutput[]>('GET', `/api/keys/${payer.keyId}/alert-events`);
    const [event] = await until(async () => {
      const events = await sent();
      return events.every(({ delivery_status }) => delivery_status === 'sent') ? events : undefined;
    });
    expect(event).toMatchObject({ purpose: 'threshold', response_code: 204, attempts: 1 });

    // However the caller spells the ids, the secret is bound to this subscription.
    const spelled = `/api/keys/${payer.keyId.toUpperCase()}/alerts/${id.toUpperCase()}`;
    const rotated = await send<{ signing_secret: string }>('POST', `${spelled}/rotate-secret`);
    await send('POST', `/api/alert-events/${event!.id}/redeliver`);
    const again = await until(() => receiver.requests[2], { what: 'the repetition' });
    expect(again.headers['webhook-id']).toBe(event!.id);
    expect(again.body).toEqual(fired.body);
    expect(again.headers['webhook-signature']!.split(' ')).toEqual(
      signatures(again, rotated.signing_secret, signing_secret!),
    );
    await listener.stop();
    await worker.stop(5_000);
  });
});
