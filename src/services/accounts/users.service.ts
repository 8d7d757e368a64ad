import { requireAdmin, requireViewer, type ServiceContext } from '../../context.js';
import { notifyInvalidation, notifySessions } from '../../db/invalidation.js';
import { AppError } from '../../errors.js';
import type { ConnectionPage } from '../../lib/connection-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { changedFields, recordAction } from '../admin/admin-actions.store.js';
import { grantIncludedCredits } from '../billing/grants.store.js';
import { idOf, notFound } from '../not-found.js';
import { endSessions } from './account-changes.rules.js';
import type { ListUsersInput, UpdateUserInput, UsersConnectionInput } from './accounts.inputs.js';
import type { UserOutput } from './accounts.outputs.js';
import { emailKeyOf, userView } from './accounts.rules.js';
import { anotherAdminStays, findById, findByNormalizedEmail, lockById } from './accounts.store.js';
import { requireActingAdmin } from './acting.js';
import { findAccounts, findPlan, listAccounts, pageAccounts } from './users.store.js';

/** The part of the accounts service that administrators use. */
export interface UsersService {
  /** Newest first. @throws AppError `unauthorized`, `forbidden` */
  listUsers(context: ServiceContext, input: ListUsersInput): Promise<UserOutput[]>;
  /** A page by cursor, newest first. @throws AppError `unauthorized`, `forbidden` */
  usersPage(context: ServiceContext, input: UsersConnectionInput): Promise<ConnectionPage<UserOutput>>;
  /** The accounts of these ids that the viewer may see, in no particular order: their own, for administrators any. */
  findUsers(context: ServiceContext, ids: readonly string[]): Promise<UserOutput[]>;
  /** The account with an email address, compared without case. @throws AppError `unauthorized`, `forbidden` */
  findUserByEmail(context: ServiceContext, email: string): Promise<UserOutput | undefined>;
  /** @throws AppError `unauthorized`, `forbidden`, `not_found` */
  getUser(context: ServiceContext, id: string): Promise<UserOutput>;
  /** @throws AppError `unauthorized`, `forbidden`, `not_found`, `validation_error`, `changed_meanwhile` */
  updateUser(context: ServiceContext, id: string, input: UpdateUserInput): Promise<UserOutput>;
}

export function createUsersService(): UsersService {
  return {
    async listUsers(context, input) {
      requireAdmin(context);
      return (await listAccounts(context.em, input)).map(userView);
    },
    async usersPage(context, input) {
      requireAdmin(context);
      const { edges, hasNextPage } = await pageAccounts(context.em, input);
      return { hasNextPage, edges: edges.map(({ cursor, node }) => ({ cursor, node: userView(node) })) };
    },
    async findUsers(context, ids) {
      const { accountId, role } = requireViewer(context);
      const seen = uuidsOf(ids).filter((id) => role === 'admin' || id === accountId);
      return (await findAccounts(context.em, seen)).map(userView);
    },
    async findUserByEmail(context, email) {
      requireAdmin(context);
      const account = await findByNormalizedEmail(context.em, emailKeyOf(email));
      return account ? userView(account) : undefined;
    },
    async getUser(context, id) {
      requireAdmin(context);
      const account = await findById(context.em, idOf(id, 'account'));
      if (!account) throw notFound('account');
      return userView(account);
    },
    async updateUser(context, named, input) {
      const viewer = requireAdmin(context);
      const id = idOf(named, 'account');
      refuseSelfHarm(viewer.accountId, id, input);
      return context.em.transactional(async (em) => {
        const account = await lockById(em, id);
        await requireActingAdmin(em, viewer);
        if (!account) throw notFound('account');
        const before = { plan: account.planId, status: account.status, role: account.role };
        if (input.expected_plan !== undefined && input.expected_plan !== before.plan) {
          throw new AppError('changed_meanwhile');
        }
        const plan = input.plan ?? before.plan;
        const status = input.status ?? before.status;
        const role = input.role ?? before.role;
        if (!(await findPlan(em, plan))) {
          throw new AppError('validation_error', { details: [{ field: 'plan', message: 'is not a plan' }] });
        }
        const loses = role !== 'admin' || status !== 'active';
        if (before.role === 'admin' && loses) {
          const stays = await anotherAdminStays(em, id);
          // A concurrent update may have demoted this administrator.
          await requireActingAdmin(em, viewer);
          if (!stays) refuseLast(input);
        }
        Object.assign(account, { planId: plan, status, role });
        if (plan !== before.plan) {
          await grantIncludedCredits(em, { accountId: id, planId: plan, now: context.clock.now() });
        }
        if (role !== before.role || (status !== before.status && status === 'disabled')) {
          endSessions(account);
          await notifySessions(em, id);
        }
        const changes = changedFields(before, { plan, status, role });
        if (Object.keys(changes.after).length > 0) {
          recordAction(em, context, { action: 'account.update', subjectId: id, ...changes });
        }
        await notifyInvalidation(em, { kind: 'account', id });
        await em.flush();
        return userView((await findById(em, id))!);
      });
    },
  };
}

/** @throws AppError `validation_error` */
function refuseLast({ role }: UpdateUserInput): never {
  const message = "can't be changed for the last active administrator";
  throw new AppError('validation_error', { details: [{ field: role ? 'role' : 'status', message }] });
}

/** Administrators who lock themselves out can't undo it. */
function refuseSelfHarm(viewerId: string, id: string, input: UpdateUserInput): void {
  if (viewerId !== id) return;
  const details = [
    ...(input.status === 'disabled' ? [{ field: 'status', message: "can't disable your own account" }] : []),
    ...(input.role === 'user' ? [{ field: 'role', message: "can't demote your own account" }] : []),
  ];
  if (details.length > 0) throw new AppError('validation_error', { details });
}
