import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UNTRACKED } from '../../db/untracked.js';
import { ApiKey } from '../../entities/keys/api-key.js';
import { KeyGuard } from '../../entities/keys/key-guard.js';
import { formatDecimal, formatMoney, type Money } from '../../lib/money.js';
import { requireExpected } from '../expected.js';
import { notFound } from '../not-found.js';
import type { ExpectedKeyInput } from './keys.inputs.js';

const inDollars = (amount: Money | null | undefined): string | null | undefined =>
  amount == null ? amount : formatMoney(amount);

const stored = (decimal: string | null | undefined): string | null =>
  decimal ? formatDecimal(decimal) : null;

/**
 * Locks a key until the transaction ends, and compares it with the key that the client expects.
 * @throws AppError `not_found`, `changed_meanwhile`
 */
export async function requireExpectedKey(
  em: EntityManager,
  own: { id: string; accountId: string },
  { name, monthly_limit_usd: monthly, daily_limit_usd: daily, guard: expectedGuard }: ExpectedKeyInput,
): Promise<void> {
  const key = await em.findOne(ApiKey, own, { ...UNTRACKED, lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw notFound('API key');
  const guard = await em.findOne(KeyGuard, { keyId: own.id }, UNTRACKED);
  requireExpected(
    {
      name,
      monthly: inDollars(monthly),
      daily: inDollars(daily),
      guard: expectedGuard && [
        expectedGuard.at_pct,
        expectedGuard.action,
        expectedGuard.model_public_name ?? null,
      ],
    },
    {
      name: key.name,
      monthly: stored(key.monthlyLimitUsd),
      daily: stored(key.dailyLimitUsd),
      guard: guard && [guard.atPct, guard.action, guard.modelPublicName ?? null],
    },
  );
}
