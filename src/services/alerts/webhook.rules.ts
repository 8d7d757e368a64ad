import { createHmac } from 'node:crypto';
import { formatTimestamp, utcMonth } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { TakenAlert } from './delivery.store.js';

/** The only type of event. */
const EVENT_TYPE = 'spend.threshold';
const USER_AGENT = 'Gateway-Webhook/1.0';
const SECRET_PREFIX = 'whsec_';
/** The percentage in a test of a key without a limit, so that it looks like a real event. */
const TEST_PCT = 100;

type WebhookFields = Pick<
  TakenAlert,
  | 'purpose'
  | 'keyId'
  | 'keyPrefix'
  | 'thresholdPct'
  | 'billingMonth'
  | 'spend'
  | 'monthlyLimit'
  | 'guardAction'
  | 'guardModel'
  | 'firedAtMs'
>;

/** The JSON body: the same bytes in every attempt. The guard's action comes last, and `test: true` in a test. */
export function webhookBody(alert: WebhookFields): string {
  return JSON.stringify({
    type: EVENT_TYPE,
    key_id: alert.keyId,
    key_prefix: alert.keyPrefix,
    threshold_pct: alert.thresholdPct ?? TEST_PCT,
    billing_month: alert.billingMonth ?? utcMonth(alert.firedAtMs),
    mtd_spend_usd: formatDecimal(alert.spend ?? '0'),
    monthly_limit_usd: formatDecimal(alert.monthlyLimit ?? '0'),
    fired_at: formatTimestamp(alert.firedAtMs),
    ...(alert.guardAction && {
      guard: { action: alert.guardAction, model_public_name: alert.guardModel },
    }),
    ...(alert.purpose === 'test' && { test: true }),
  });
}

export interface WebhookSigning {
  /** The installation's secret. */
  operatorSecret: string;
  /** The subscription's secrets, `whsec_…`; two after a rotation. */
  secrets: readonly string[];
  /** Time of this attempt, milliseconds. */
  now: number;
}

/** All headers that describe the body. */
export function webhookHeaders(id: string, body: string, signing: WebhookSigning): Record<string, string> {
  const timestamp = Math.floor(signing.now / 1000);
  const operator = createHmac('sha256', signing.operatorSecret).update(body).digest('hex');
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'X-Gateway-Event': EVENT_TYPE,
    'X-Gateway-Signature': `sha256=${operator}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signing.secrets
      .map((secret) => `v1,${standardSignature(secret, `${id}.${timestamp}.${body}`)}`)
      .join(' '),
  };
}

/** Standard Webhooks: HMAC-SHA-256 with the base64-decoded secret. */
function standardSignature(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}
