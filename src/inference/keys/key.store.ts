import type { Pool } from 'pg';
import { queryWithin } from '../../db/bounded.js';
import type { GuardAction } from '../../entities/keys/key-guard.js';
import { type Money, parseMoney } from '../../lib/money.js';
import type { PayerRow } from '../row-cache.js';
import type { GuardRow } from './guard-state.js';

/** The part of a key, its account and its plan that the edge needs, read in one statement. */
export interface KeyRow extends PayerRow {
  hash: string;
  active: boolean;
  dailyLimit: Money | null;
  allowedModels: string[];
  spendToday: Money;
  /** Null without a guard, or without a monthly limit for its percentage. */
  guard: GuardRow | null;
}

interface Raw {
  hash: string;
  key_id: string;
  account_id: string;
  active: boolean;
  daily_limit_usd: string | null;
  virtual_key_sealed: string | null;
  balance: string;
  ledger_seq: string;
  requests_per_minute: number;
  allowed_models: string[];
  spend_today: string;
  guard_action: GuardAction | null;
  guard_model: string | null;
  guard_bound: string;
  acted_month: string | null;
  undone: boolean;
  spent_before: string;
}

const SQL = `
select encode(k.key_hash, 'hex') as hash, k.id as key_id, k.account_id,
  k.status = 'active' and a.status = 'active' and a.deleted_at is null as active,
  k.daily_limit_usd::text, k.virtual_key_sealed, a.balance::text, a.ledger_seq::text,
  p.requests_per_minute, p.allowed_models, coalesce(d.spend, 0)::text as spend_today,
  g.action as guard_action, g.model_public_name as guard_model, (g.at_pct * k.monthly_limit_usd)::text as guard_bound,
  g.acted_month, g.undone, case when g.key_id is not null
    then (key_month_spend(k.id, to_char($2::date, 'YYYY-MM')) - coalesce(d.spend, 0))::text end as spent_before
from api_keys k
join accounts a on a.id = k.account_id
join plans p on p.id = a.plan_id
left join key_spend_days d on d.key_id = k.id and d.day = $2::date
left join key_guards g on g.key_id = k.id and k.monthly_limit_usd is not null
where k.key_hash = any($1::bytea[])
union all
select encode(k.key_hash, 'hex'), k.id, k.account_id, false, null, null, a.balance::text, a.ledger_seq::text,
  p.requests_per_minute, p.allowed_models, '0', null, null, null, null, null, null
from deleted_api_keys k
join accounts a on a.id = k.account_id
join plans p on p.id = a.plan_id
where k.key_hash = any($1::bytea[])`;

/** Callers wait for this reading, so a database that takes longer counts as away. */
const TIMEOUT_MS = 2_000;

/**
 * Reads keys by the SHA-256 of their secrets in hex. Keys that never existed are missing from the result; deleted keys aren't
 * active.
 * @throws Error after 2 s at the latest
 */
export async function readKeys(pool: Pool, hashes: string[], day: string): Promise<Map<string, KeyRow>> {
  const values = [hashes.map((hash) => `\\x${hash}`), day];
  const rows = await queryWithin<Raw>(pool, { name: 'read-keys', text: SQL, values }, TIMEOUT_MS);
  return new Map(rows.map((row) => [row.hash, rowOf(row)]));
}

function rowOf(row: Raw): KeyRow {
  return {
    hash: row.hash,
    id: row.key_id,
    accountId: row.account_id,
    active: row.active,
    dailyLimit: row.daily_limit_usd === null ? null : parseMoney(row.daily_limit_usd),
    virtualKeySealed: row.virtual_key_sealed,
    balance: parseMoney(row.balance),
    ledgerSeq: BigInt(row.ledger_seq),
    requestsPerMinute: row.requests_per_minute,
    allowedModels: row.allowed_models,
    spendToday: parseMoney(row.spend_today),
    guard: row.guard_action && guardOf(row, row.guard_action),
  };
}

function guardOf(row: Raw, action: GuardAction): GuardRow {
  return {
    action,
    model: row.guard_model,
    bound: parseMoney(row.guard_bound),
    actedMonth: row.acted_month,
    undone: row.undone,
    spentBefore: parseMoney(row.spent_before),
  };
}
