import { requireAdmin, type ServiceContext } from '../../context.js';
import { notifyInvalidation } from '../../db/invalidation.js';
import { AppError } from '../../errors.js';
import { formatMoney } from '../../lib/money.js';
import { redisFault } from '../../lib/open-redis.js';
import { lockById } from '../accounts/accounts.store.js';
import { requireActingAdmin } from '../accounts/acting.js';
import type { ModelOutput } from '../billing/billing.outputs.js';
import { findEntryByKey, postLedgerEntry } from '../billing/ledger.store.js';
import type { ServiceDeps } from '../deps.js';
import { idOf, notFound } from '../not-found.js';
import type { AdjustCreditInput, ListActionsInput } from './admin.inputs.js';
import type {
  ActionOutput,
  AdjustmentOutput,
  JobOutput,
  RoutedModelOutput,
  WarningOutput,
} from './admin.outputs.js';
import { listActions, recordAction } from './admin-actions.store.js';
import { listJobs } from './jobs.store.js';
import { routingView } from './routing.js';

/** Use cases for running the installation. Every method throws AppError `unauthorized` and `forbidden`. */
export function createAdminService(
  { askRouting, config }: Pick<ServiceDeps, 'askRouting' | 'config'>,
  billing: { models(context: ServiceContext): Promise<ModelOutput[]> },
) {
  return {
    /**
     * Corrects the balance of an account with a ledger entry.
     * @throws AppError `not_found`, `idempotency_conflict`
     */
    async adjustCredit(
      context: ServiceContext,
      named: string,
      input: AdjustCreditInput,
    ): Promise<AdjustmentOutput> {
      const viewer = requireAdmin(context);
      const accountId = idOf(named, 'account');
      const { amount_usd: amount, reason } = input;
      return context.em.fork().transactional(async (em) => {
        const account = await lockById(em, accountId);
        await requireActingAdmin(em, viewer);
        if (!account) throw notFound('account');
        const key = input.idempotency_key && `adjustment:${input.idempotency_key}`;
        const posted = await postLedgerEntry(em, {
          accountId,
          kind: 'adjustment',
          amount,
          description: reason,
          now: context.clock.now(),
          ...(key && { idempotencyKey: key }),
        });
        const output = (balance: bigint): AdjustmentOutput => ({
          account_id: accountId,
          amount_usd: formatMoney(amount),
          balance_usd: formatMoney(balance),
        });
        if (posted === 'duplicate') {
          const first = await findEntryByKey(em, accountId, key!);
          if (first?.amount !== amount) throw new AppError('idempotency_conflict');
          return output(first.balanceAfter);
        }
        recordAction(em, context, {
          action: 'account.adjust_credit',
          subjectId: accountId,
          before: { balance_usd: formatMoney(posted.balanceAfter - amount) },
          after: { balance_usd: formatMoney(posted.balanceAfter) },
          reason,
        });
        await notifyInvalidation(em, { kind: 'account', id: accountId });
        return output(posted.balanceAfter);
      });
    },

    async actions(context: ServiceContext, input: ListActionsInput): Promise<ActionOutput[]> {
      requireAdmin(context);
      return listActions(context.em, input);
    },

    async jobs(context: ServiceContext): Promise<JobOutput[]> {
      requireAdmin(context);
      return listJobs(context.em);
    },

    /** Problems that an administrator should fix, as `npm run doctor` reports them. */
    async warnings(context: ServiceContext): Promise<WarningOutput[]> {
      requireAdmin(context);
      const message = config.redisUrl ? await redisFault(config.redisUrl) : undefined;
      return message ? [{ message }] : [];
    },

    /** The deployments of each model. @throws AppError `service_unavailable` */
    async routing(context: ServiceContext): Promise<RoutedModelOutput[]> {
      requireAdmin(context);
      const routed = await askRouting(context.em);
      return routingView(routed, await billing.models(context), context.clock.now());
    },
  };
}
