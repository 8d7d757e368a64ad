import type { Pool } from 'pg';
import { newId } from '../../src/lib/ids.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { type Payer, recordOf } from '../metering/support.js';

/** One cent. */
const CENT_TOKENS = 1_000;
const PRICE_IN = 10_000_000n;

/** A successful call that costs so many cents. */
export function callOf(payer: Payer, cents: number, changes: Partial<UsageRecord> = {}): UsageRecord {
  return recordOf(payer, {
    inputTokens: cents * CENT_TOKENS,
    outputTokens: 0,
    priceIn: PRICE_IN,
    priceOut: 0n,
    ...changes,
  });
}

/** Sets the key's monthly limit in dollars, as the platform does. */
export async function limitKey(pool: Pool, { keyId }: Payer, dollars: number | null): Promise<void> {
  await pool.query(
    'update api_keys set monthly_limit_usd = $2, monthly_limit_changed_at = now() where id = $1',
    [keyId, dollars],
  );
}

/** Another key of the account. */
export async function addKey(pool: Pool, { accountId }: Payer): Promise<Payer> {
  const keyId = newId();
  await pool.query(
    `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, created_at)
     values ($1, $2, 'key', 'sk-pr-abcd', 'wxyz', $3, now())`,
    [keyId, accountId, Buffer.from(keyId)],
  );
  return { accountId, keyId };
}

export interface Subscribed {
  kind?: 'email' | 'webhook';
  active?: boolean;
  destination?: string;
}

/** An alert subscription, written the way the platform writes it. Gives its id. */
export async function subscribe(
  pool: Pool,
  { accountId, keyId }: Payer,
  thresholds: number[],
  { kind = 'webhook', active = true, destination }: Subscribed = {},
): Promise<string> {
  const id = newId();
  await pool.query(
    `insert into alert_subscriptions (id, account_id, key_id, kind, destination, thresholds_pct, active,
       signing_secret_sealed, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now(), now())`,
    [
      id,
      accountId,
      keyId,
      kind,
      destination ?? (kind === 'email' ? 'ops@example.com' : 'https://hooks.example.com/x'),
      thresholds,
      active,
      kind === 'webhook' ? 'sealed' : null,
    ],
  );
  return id;
}

/** What fired for a key, as `YYYY-MM percent`, in order. */
export async function firingsOf(pool: Pool, { keyId }: Payer): Promise<string[]> {
  const { rows } = await pool.query<{ fired: string }>(
    `select month || ' ' || threshold_pct as fired from threshold_firings
     where key_id = $1 order by month, threshold_pct`,
    [keyId],
  );
  return rows.map((row) => row.fired);
}

export interface EventRow {
  id: string;
  subscription_id: string | null;
  purpose: string;
  kind: string;
  destination: string;
  key_name: string | null;
  key_prefix: string | null;
  threshold_pct: number | null;
  billing_month: string | null;
  spend: string | null;
  monthly_limit: string | null;
  balance: string | null;
  delivery_status: string;
  error_message: string | null;
}

/** The alert events of an account, by key, month, percentage and subscription. */
export async function eventsOf(pool: Pool, { accountId }: Pick<Payer, 'accountId'>): Promise<EventRow[]> {
  const { rows } = await pool.query<EventRow>(
    `select id, subscription_id, purpose, kind, destination, key_name, key_prefix, threshold_pct, billing_month,
       trim_scale(spend)::text as spend, trim_scale(monthly_limit)::text as monthly_limit,
       trim_scale(balance)::text as balance, delivery_status, error_message
     from alert_events where account_id = $1 order by key_id, billing_month, threshold_pct, subscription_id, fired_at`,
    [accountId],
  );
  return rows;
}
