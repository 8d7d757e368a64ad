import { flushBatch } from '../../src/metering/flush.store.js';
import { codesOf, dataOf, operate } from '../graphql/support.js';
import type { Payer } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { addKey, callOf, eventsOf, limitKey, subscribe } from './support.js';

const HOOK = 'https://93.184.216.34/hook';
const ALERT = 'id keyId kind destination thresholdsPct active disabledReason createdAt updatedAt';

interface Alert {
  id: string;
  [field: string]: unknown;
}

describe('alerts in GraphQL', () => {
  const suite = usePlatform();
  let token: string;
  let payer: Payer;
  beforeEach(async () => {
    const ada = await signUp(suite.url);
    token = ada.token;
    payer = await createTestKey(suite.db, { accountId: ada.user.id });
  });

  const mutate = (mutation: string, fields: string, input: Record<string, unknown>) =>
    operate<Record<string, Record<string, unknown>>>(
      suite.url,
      `mutation ($input: ${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!) { ${mutation}(input: $input) { ${fields} } }`,
      { token, variables: { input } },
    );
  const done = async (mutation: string, fields: string, input: Record<string, unknown>) => {
    const { body, text } = await mutate(mutation, fields, input);
    if (!body.data?.[mutation]) throw new Error(text);
    return body.data[mutation];
  };
  const create = async (input: Record<string, unknown> = {}): Promise<Alert> => {
    const made = await done('createAlertSubscription', `signingSecret alertSubscription { ${ALERT} }`, {
      keyId: payer.keyId,
      kind: 'WEBHOOK',
      destination: HOOK,
      thresholdsPct: [90, 50],
      ...input,
    });
    return { ...(made.alertSubscription as Alert), signingSecret: made.signingSecret };
  };

  test('creates, changes and deletes the same subscription that REST shows', async () => {
    const { signingSecret, ...alert } = await create();
    expect(signingSecret).toMatch(/^whsec_/);
    expect(alert).toMatchObject({
      kind: 'WEBHOOK',
      thresholdsPct: [50, 90],
      active: true,
      keyId: payer.keyId,
    });
    const rest = await call<Record<string, unknown>[]>(suite.url, 'GET', `/api/keys/${payer.keyId}/alerts`, {
      token,
    });
    expect(rest.body).toEqual([
      expect.objectContaining({ id: alert.id, thresholds_pct: [50, 90], created_at: alert.createdAt }),
    ]);
    const own = { keyId: payer.keyId, id: alert.id };
    const changed = await done('updateAlertSubscription', `alertSubscription { ${ALERT} }`, {
      ...own,
      active: false,
    });
    expect(changed.alertSubscription).toEqual({ ...alert, active: false, updatedAt: expect.any(String) });
    const rotated = await done('rotateAlertSecret', 'signingSecret', own);
    expect(rotated.signingSecret).not.toBe(signingSecret);
    const deleted = await done('deleteAlertSubscription', 'deletedAlertSubscriptionId', own);
    expect(deleted.deletedAlertSubscriptionId).toBe(alert.id);
    expect(codesOf(await mutate('deleteAlertSubscription', 'deletedAlertSubscriptionId', own))).toEqual([
      'not_found',
    ]);
  });

  test.each([
    ['destination', { destination: 'http://localhost/' }],
    ['destination', { kind: 'EMAIL', destination: 'nobody' }],
    ['thresholds_pct', { thresholdsPct: [7, 7] }],
    ['thresholds_pct', { thresholdsPct: [] }],
    ['thresholds_pct.0', { thresholdsPct: [0] }],
  ])('names what is wrong: %s %j', async (field, input) => {
    const answer = await mutate('createAlertSubscription', 'signingSecret', {
      keyId: payer.keyId,
      kind: 'WEBHOOK',
      destination: HOOK,
      thresholdsPct: [50],
      ...input,
    });
    expect(answer.body.errors![0]!.extensions).toMatchObject({
      code: 'validation_error',
      details: [{ field: expect.stringContaining(field.split('_')[0]!) }],
    });
  });

  test('an ID that REST takes from the path is a field of the input in errors', async () => {
    const mail = await create({ kind: 'EMAIL', destination: 'ops@example.com' });
    const own = { keyId: payer.keyId, id: mail.id };
    await done('sendTestAlert', 'alertEvent { id }', own);
    const [event] = await eventsOf(suite.db.pool, payer);
    await suite.db.pool.query(
      `update alert_events set delivery_status = 'degraded', next_attempt_at = null where id = $1`,
      [event!.id],
    );
    const unsigned = await mutate('rotateAlertSecret', 'signingSecret', own);
    await done('deleteAlertSubscription', 'deletedAlertSubscriptionId', own);
    const homeless = await mutate('redeliverAlertEvent', 'alertEvent { id }', { eventId: event!.id });
    expect([unsigned, homeless].map(({ body }) => body.errors![0]!.extensions)).toEqual([
      {
        code: 'validation_error',
        details: [{ field: 'input', message: 'is an email subscription, which has no signing secret' }],
      },
      {
        code: 'validation_error',
        details: [{ field: 'input', message: 'is an event whose subscription was deleted' }],
      },
    ]);
  });

  test('a test and a redelivery are pending events', async () => {
    const { id } = await create();
    const fields = 'alertEvent { id purpose deliveryStatus thresholdPct apiKey { id } }';
    const sent = await done('sendTestAlert', fields, { keyId: payer.keyId, id });
    expect(sent.alertEvent).toEqual({
      id: expect.any(String),
      purpose: 'TEST',
      deliveryStatus: 'PENDING',
      thresholdPct: 50,
      apiKey: { id: payer.keyId },
    });
    const [event] = await eventsOf(suite.db.pool, payer);
    await suite.db.pool.query(
      `update alert_events set delivery_status = 'degraded', next_attempt_at = null where id = $1`,
      [event!.id],
    );
    const again = await done('redeliverAlertEvent', fields, { eventId: event!.id });
    expect(again.alertEvent).toEqual(sent.alertEvent);
  });

  test('keys return their alerts and events in pages, several keys in one statement each', async () => {
    const keys = [payer, await addKey(suite.db.pool, payer), await addKey(suite.db.pool, payer)];
    for (const key of keys) {
      await limitKey(suite.db.pool, key, 1);
      await subscribe(suite.db.pool, key, [10, 20, 30]);
      await flushBatch(suite.db.pool, [callOf(key, 10)]);
      await flushBatch(suite.db.pool, [callOf(key, 10)]);
      await flushBatch(suite.db.pool, [callOf(key, 10)]);
    }
    type Page = {
      nodes: { thresholdPct: number; keyId: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
    const query = `query ($after: String) { viewer { apiKeys { nodes { id alerts { thresholdsPct }
      alertEvents(first: 2, after: $after) { nodes { thresholdPct keyId } pageInfo { hasNextPage endCursor } } } } } }`;
    const { viewer } = await dataOf<{
      viewer: { apiKeys: { nodes: { id: string; alerts: unknown[]; alertEvents: Page }[] } };
    }>(suite.url, query, { token });
    expect(viewer.apiKeys.nodes).toHaveLength(3);
    for (const key of viewer.apiKeys.nodes) {
      expect(key.alerts).toEqual([{ thresholdsPct: [10, 20, 30] }]);
      expect(key.alertEvents.nodes).toEqual(
        [30, 20].map((thresholdPct) => ({ thresholdPct, keyId: key.id })),
      );
      expect(key.alertEvents.pageInfo.hasNextPage).toBe(true);
    }
    const all = `query ($after: String) { viewer { alertEvents(first: 5, after: $after) {
      nodes { thresholdPct keyId mtdSpendUsd apiKey { id } } pageInfo { hasNextPage endCursor } } } }`;
    const first = await dataOf<{ viewer: { alertEvents: Page } }>(suite.url, all, { token });
    const after = first.viewer.alertEvents.pageInfo.endCursor;
    const rest = await dataOf<{ viewer: { alertEvents: Page } }>(suite.url, all, {
      token,
      variables: { after },
    });
    const seen = [...first.viewer.alertEvents.nodes, ...rest.viewer.alertEvents.nodes];
    expect(seen.map(({ thresholdPct }) => thresholdPct)).toEqual([30, 20, 10, 30, 20, 10, 30, 20, 10]);
    expect(rest.viewer.alertEvents.pageInfo.hasNextPage).toBe(false);
  });

  test('the low-balance threshold can be set, read and cleared', async () => {
    expect(await done('setLowBalanceAlert', 'thresholdUsd', { thresholdUsd: '0.25' })).toEqual({
      thresholdUsd: '0.250000',
    });
    const query = '{ viewer { lowBalanceThresholdUsd } }';
    expect(await dataOf(suite.url, query, { token })).toEqual({
      viewer: { lowBalanceThresholdUsd: '0.250000' },
    });
    expect(await done('setLowBalanceAlert', 'thresholdUsd', { thresholdUsd: null })).toEqual({
      thresholdUsd: null,
    });
  });
});
