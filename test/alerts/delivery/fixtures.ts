import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { newId } from '../../../src/lib/ids.js';
import { signingSecretField } from '../../../src/services/alerts/alerts.rules.js';
import { createEnvelopes } from '../../../src/services/envelopes.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';

export const envelopes = createEnvelopes({
  encryptionKey: TEST_SECRETS.ENCRYPTION_KEY,
  encryptionKeyPrevious: undefined,
});

/** A key of an account, and a subscription of it. */
export interface Subscribed {
  accountId: string;
  keyId: string;
  subscriptionId: string;
  destination: string;
  kind: 'email' | 'webhook';
  /** `whsec_…` */
  secret: string;
}

export async function subscribe(
  pool: Pool,
  destination: string,
  given: Partial<Subscribed> = {},
): Promise<Subscribed> {
  const subscription: Subscribed = {
    accountId: newId(),
    keyId: newId(),
    subscriptionId: newId(),
    kind: destination.includes('://') ? 'webhook' : 'email',
    secret: `whsec_${randomBytes(32).toString('base64')}`,
    ...given,
    destination,
  };
  const { accountId, keyId, subscriptionId, kind, secret } = subscription;
  if (!given.accountId) {
    await pool.query(`insert into accounts (id, name, created_at) values ($1, 'A', now())`, [accountId]);
  }
  if (!given.keyId) {
    await pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
       values ($1, $2, 'production', 'sk-pr-abcd', 'wxyz', $3, now())`,
      [keyId, accountId, randomBytes(32)],
    );
  }
  const sealed = envelopes.alertSecret.seal(secret, signingSecretField(subscriptionId));
  await pool.query(
    `insert into alert_subscriptions (id, account_id, key_id, kind, destination, thresholds_pct,
       signing_secret_sealed, created_at, updated_at)
     values ($1, $2, $3, $4, $5, '{80}', $6, now(), now())`,
    [subscriptionId, accountId, keyId, kind, destination, kind === 'webhook' ? sealed : null],
  );
  return subscription;
}

/** Columns of an event that a test may set. */
export type EventColumns = Partial<Record<string, string | number | Date | null>>;

let firings = 0;

/** An alert event as the flush writes it: pending and due. Gives its id. */
export async function fire(pool: Pool, to: Subscribed, columns: EventColumns = {}): Promise<string> {
  const row: EventColumns = {
    id: newId(),
    account_id: to.accountId,
    key_id: to.keyId,
    subscription_id: to.subscriptionId,
    purpose: 'threshold',
    kind: to.kind,
    destination: to.destination,
    key_name: 'production',
    key_prefix: 'sk-pr-abcd…wxyz',
    threshold_pct: 80,
    // One firing each per month, none of which a test names.
    billing_month: `${2100 + (firings++ % 7900)}-11`,
    spend: '8.123456789',
    monthly_limit: '10',
    ...columns,
  };
  const names = Object.keys(row);
  await pool.query(
    `insert into alert_events (${names}, fired_at, pending_since, next_attempt_at)
     values (${names.map((_name, at) => `$${at + 1}`)}, now(), now(), now())`,
    Object.values(row),
  );
  return row.id as string;
}

export interface EventRow {
  delivery_status: string;
  attempts: number;
  response_code: number | null;
  error_message: string | null;
  finished_at: Date | null;
  leased_until: Date | null;
  lease_token: string;
}

export async function readEvent(pool: Pool, id: string): Promise<EventRow> {
  const { rows } = await pool.query<EventRow>('select * from alert_events where id = $1', [id]);
  return rows[0]!;
}

/** Waits for the end of a delivery. */
export function ended(pool: Pool, id: string, timeoutMs = 15_000): Promise<EventRow> {
  return until(
    async () => {
      const row = await readEvent(pool, id);
      return row.delivery_status === 'pending' ? undefined : row;
    },
    { timeoutMs, what: 'the delivery to end' },
  );
}
