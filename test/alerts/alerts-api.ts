import { flushBatch } from '../../src/metering/flush.store.js';
import type { CreatedAlertOutput } from '../../src/services/alerts/alerts.outputs.js';
import type { Payer } from '../metering/support.js';
import { type ApiAnswer, call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { type PlatformSuite, usePlatform } from '../support/platform-suite.js';
import { callOf, limitKey } from './support.js';

/** No name: nothing is asked of DNS. */
export const HOOK = 'https://93.184.216.34/hook';

export interface AlertsApi extends PlatformSuite {
  /** Of somebody new in each test, who has one key. */
  token: string;
  payer: Payer;
  /** Path of the subscriptions of that key. */
  alerts: string;
  send<T = ErrorAnswer>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>>;
  create(input?: Record<string, unknown>): Promise<CreatedAlertOutput>;
  /** Spends so much of a limit of a dollar. */
  fire(cents?: number): Promise<void>;
  /** Ends every delivery. */
  finish(status: string): Promise<unknown>;
}

/** The platform of the worker for the tests of a file, each with somebody of its own. */
export function useAlertsApi(): AlertsApi {
  // What else it has is set by the hook below before anyone can read it.
  const api = usePlatform() as AlertsApi;
  beforeEach(async () => {
    const { token, user } = await signUp(api.url);
    api.token = token;
    api.payer = await createTestKey(api.db, { accountId: user.id });
    api.alerts = `/api/keys/${api.payer.keyId}/alerts`;
  });
  const send = <T>(method: string, path: string, body?: unknown) =>
    call<T>(api.url, method, path, { token: api.token, body });
  return Object.assign(api, {
    send,
    async create(input: Record<string, unknown> = {}) {
      const body = { kind: 'webhook', destination: HOOK, thresholds_pct: [80], ...input };
      const answer = await send<CreatedAlertOutput>('POST', api.alerts, body);
      expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
      return answer.body;
    },
    async fire(cents = 90) {
      await limitKey(api.db.pool, api.payer, 1);
      await flushBatch(api.db.pool, [callOf(api.payer, cents)]);
    },
    finish: (status: string) =>
      api.db.pool.query(
        `update alert_events set delivery_status = $2, next_attempt_at = null, finished_at = now(), attempts = 3,
           response_code = 500, error_message = 'no' where account_id = $1`,
        [api.payer.accountId, status],
      ),
  });
}
